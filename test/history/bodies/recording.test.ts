import { describe, expect, it } from 'vitest'
import { MASKED } from '../../../src/history/execution-record.ts'
import { listKeyIdsInUse } from '../../../src/installation.ts'
import { createSealing, generateMasterKey } from '../../../src/lib/process/sealing.ts'
import { databaseKinds } from '../../support/databases.ts'
import { buildExecution } from '../execution.ts'
import { createHistoryWorld, createServer, lockDatabase } from '../history-world.ts'

const bodiesOf = (characters: number) => ({
  bodies: { [MASKED]: true, response: { text: 'x'.repeat(characters), isCut: false } } as const,
})

describe.each(databaseKinds)('recording bodies on $kind', kind => {
  it('keeps the records of calls, but not all bodies, while the database cannot keep up', async () => {
    const { recorder, serverId, target, db, countStored } = await createHistoryWorld(kind, { maxQueuedBytes: 100_000 })
    const lock = await lockDatabase(target)
    const records = Array.from({ length: 6 }, () => buildExecution(serverId, bodiesOf(15_000)))
    for (const record of records) recorder.record(record)
    await lock.release()
    await recorder.flush()
    expect(await countStored()).toBe(6)
    const stored = await db.callBodies.findMany({ orderBy: { executionId: 'asc' } })
    expect(stored.map(({ executionId }) => executionId)).toEqual(records.slice(0, 2).map(({ id }) => id))
    for (const record of records) recorder.record({ ...record, id: crypto.randomUUID() })
    await recorder.flush()
    expect(await db.callBodies.count()).toBe(4)
  })

  it('drops those of a deleted server, and stores the others of the batch', async () => {
    const { recorder, serverId, db } = await createHistoryWorld(kind)
    const gone = await createServer(db)
    await db.server.delete({ where: { id: gone } })
    const records = [gone, serverId].map(id => buildExecution(id, bodiesOf(10)))
    for (const record of records) recorder.record(record)
    await recorder.flush()
    expect(await db.callBodies.findMany()).toMatchObject([{ executionId: records[1]?.id }])
  })

  it('requires each key with which bodies are encrypted', async () => {
    const [first, second] = [generateMasterKey(), generateMasterKey()]
    const sealings = [createSealing([first]), createSealing([second, first]), createSealing([second])]
    const { recorder, serverId, db } = await createHistoryWorld(kind, {
      sealing: { seal: (plain, context) => (sealings.shift() ?? createSealing([first])).seal(plain, context) },
    })
    for (let call = 0; call < 5; call++) recorder.record(buildExecution(serverId, bodiesOf(10)))
    await recorder.flush()
    const keyIds = [first, second].flatMap(key => createSealing([key]).keyIds)
    expect((await listKeyIdsInUse(db)).toSorted()).toEqual(keyIds.toSorted())
  })
})
