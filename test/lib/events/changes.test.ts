import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../../src/lib/db/client.ts'
import { createChanges } from '../../../src/lib/events/changes.ts'
import type { DomainEvent } from '../../../src/lib/events/domain-event.ts'
import { createEventBus } from '../../../src/lib/events/event-bus.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

const EVENT_TYPES = [
  'toolkit_changed',
  'upstream_changed',
  'server_changed',
  'server_removed',
  'access_changed',
  'resync',
] as const

/** Simulates a process with its own database connection and bus, and collects the events that it receives. */
const joinDatabase = async ({ target }: TestDatabase) => {
  const db = await openDatabase(target)
  const warnings: unknown[] = []
  const logger = { error: () => undefined, warn: (details: object) => warnings.push(details) }
  const bus = createEventBus({ logger })
  const heard: DomainEvent[] = []
  for (const type of EVENT_TYPES) bus.subscribe(type, event => void heard.push(event))
  const changes = await createChanges({ db, target, bus, logger })
  const close = async (): Promise<void> => {
    await changes.close()
    await db.close()
  }
  return { db, bus, changes, heard, warnings, close }
}
type Joined = Awaited<ReturnType<typeof joinDatabase>>

const toolkitChanged = { type: 'toolkit_changed', toolkitId: 'a' } as const
const serverChanged = { type: 'server_changed', serverId: 'b' } as const
const hears = (joined: Joined, event: DomainEvent) =>
  vi.waitFor(() => expect(joined.heard).toContainEqual(event), 5_000)

describe.each(databaseKinds)('changes, on $kind', ({ kind, create }) => {
  let database: TestDatabase
  let here: Joined
  let there: Joined
  beforeEach(async () => {
    database = await create()
    here = await joinDatabase(database)
    there = await joinDatabase(database)
  })
  afterEach(async () => {
    await here.close()
    await there.close()
    await database.drop()
  })

  it('are announced once, here before the commit resolves and in other processes soon after', async () => {
    const { id } = await here.changes.commit(async (tx, announce) => {
      announce(toolkitChanged)
      announce(toolkitChanged)
      announce(serverChanged)
      return tx.organization.create({ data: { name: 'changed' } })
    })
    expect(here.heard).toEqual([toolkitChanged, serverChanged])
    await hears(there, serverChanged)
    expect(there.heard).toEqual([toolkitChanged, serverChanged])
    expect(await there.db.organization.findUnique({ where: { id } })).not.toBeNull()
    // Any duplicate of the events above would arrive before this later event.
    await there.changes.commit(async (_tx, announce) => announce({ type: 'server_removed', serverId: 'c' }))
    await hears(here, { type: 'server_removed', serverId: 'c' })
    expect(here.heard).toHaveLength(3)
  })

  it('that fail are not announced', async () => {
    const failing = here.changes.commit(async (_tx, announce) => {
      announce(toolkitChanged)
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    await here.changes.commit(async (_tx, announce) => announce(serverChanged))
    await hears(there, serverChanged)
    expect(here.heard).toEqual([serverChanged])
    expect(there.heard).toEqual([serverChanged])
  })

  it('wait for all listeners here, even if one fails', async () => {
    const done: string[] = []
    here.bus.subscribe('server_changed', async () => {
      await here.db.organization.count()
      done.push('slow')
    })
    here.bus.subscribe('server_changed', () => Promise.reject(new Error('on purpose')))
    await here.changes.commit(async (_tx, announce) => announce(serverChanged))
    expect(done).toEqual(['slow'])
  })

  it('of another process are announced', async () => {
    const event = { type: 'access_changed', userId: 'd' } as const
    const script = join(import.meta.dirname, 'changes.process.ts')
    const child = spawn(process.execPath, [script, database.url, JSON.stringify(event)], { stdio: 'inherit' })
    expect(await once(child, 'close')).toEqual([0, null])
    await hears(here, event)
    expect(here.heard).toEqual([event])
  })

  it('are all announced, even many at once', async () => {
    const serverIds = Array.from({ length: 120 }, (_, index) => `server ${index}`)
    await here.changes.commit(async (_tx, announce) => {
      for (const serverId of serverIds) announce({ type: 'server_changed', serverId })
    })
    await hears(there, { type: 'server_changed', serverId: 'server 119' })
    expect(there.heard.map(event => 'serverId' in event && event.serverId)).toEqual(serverIds)
  })

  it('of an unknown kind, from a newer version, are skipped and logged', async () => {
    const unknown = { type: 'moon_changed', moonId: 'e' }
    if (kind === 'sqlite') await there.db.change.create({ data: { origin: 'newer', event: unknown } })
    else {
      const payload = JSON.stringify({ origin: 'newer', events: [unknown] })
      await there.db.$executeRaw`SELECT pg_notify('patchbay_changes', ${payload})`
    }
    await there.changes.commit(async (_tx, announce) => announce(serverChanged))
    await hears(here, serverChanged)
    expect(here.heard).toEqual([serverChanged])
    expect(here.warnings).toEqual([{ event: unknown }])
  })

  it('made before a process joined are not announced', async () => {
    await here.changes.commit(async (_tx, announce) => announce(toolkitChanged))
    const late = await joinDatabase(database)
    await here.changes.commit(async (_tx, announce) => announce(serverChanged))
    await hears(late, serverChanged)
    expect(late.heard).toEqual([serverChanged])
    await late.close()
  })
})

describe.each(databaseKinds.filter(({ kind }) => kind === 'sqlite'))('the table of changes', ({ create }) => {
  it('is pruned of old rows, and processes that missed them are told to resync', async () => {
    const database = await create()
    const asleep = await joinDatabase(database)
    const writer = await joinDatabase(database)
    // One transaction, so that no process can read in between: the event from an hour ago is pruned unread.
    await writer.changes.commit(async (tx, announce) => {
      const createdAt = new Date(Date.now() - 60 * 60 * 1_000)
      await tx.change.create({ data: { origin: 'gone', event: toolkitChanged, createdAt } })
      announce(serverChanged)
    })
    await hears(asleep, serverChanged)
    expect(asleep.heard).toEqual([{ type: 'resync' }, serverChanged])
    expect(await writer.db.change.count()).toBe(1)
    await asleep.close()
    await writer.close()
    await database.drop()
  })
})

describe.each(databaseKinds.filter(({ kind }) => kind === 'postgresql'))('a lost listener', ({ create }) => {
  it('reconnects, announces a resync, and receives changes again', async () => {
    const database = await create()
    const here = await joinDatabase(database)
    const client = new Client({ connectionString: database.url })
    await client.connect()
    await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'patchbay events'`)
    await client.end()
    await hears(here, { type: 'resync' })
    const there = await joinDatabase(database)
    await there.changes.commit(async (_tx, announce) => announce(serverChanged))
    await hears(here, serverChanged)
    await here.close()
    await there.close()
    await database.drop()
  })
})
