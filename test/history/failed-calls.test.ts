import { describe, expect, it, onTestFinished } from 'vitest'
import { toExecutionRow } from '../../src/history/execution-row.ts'
import { createPostgresWriter } from '../../src/history/postgres-writer.ts'
import { createSqliteWriter } from '../../src/history/sqlite-writer.ts'
import { toStoredTypes } from '../../src/outbox/event-types.ts'
import { databaseKinds } from '../support/databases.ts'
import { buildExecution } from './execution.ts'
import { createHistoryWorld } from './history-world.ts'

describe.each(databaseKinds)('the events of failed calls on $kind', kind => {
  it('are left out if the database refuses them, and the history goes on', async () => {
    const { db, target, serverId, organizationId } = await createHistoryWorld(kind)
    const events = toStoredTypes(['call.failed'])
    await db.webhook.create({ data: { organizationId, address: 'https://a.example/', content: '', keyId: '', events } })
    const writer = target.kind === 'sqlite' ? createSqliteWriter(target) : createPostgresWriter(target)
    onTestFinished(writer.close)
    const invalid = buildExecution(serverId, { outcome: 'error', startedAt: new Date(Number.NaN) })
    const failed = buildExecution(serverId, { outcome: 'error' })
    const executions = [invalid, failed].map(toExecutionRow)
    expect(await writer.write({ executions, gaps: [], tokens: [], bodies: [] })).toMatchObject({
      kind: 'written',
      dropped: 0,
    })
    expect(await db.execution.findMany({ select: { id: true } })).toEqual([{ id: failed.id }])
    expect(await db.event.findMany({ select: { id: true } })).toEqual([{ id: failed.id }])
  })
})
