// Another process on the database of the first argument: commits a change that announces the event of the second.
import { openDatabase, parseDatabaseUrl } from '../../src/platform/db/index.ts'
import { createChanges, createEventBus, DomainEvent } from '../../src/platform/events/index.ts'

const [url = '', event = ''] = process.argv.slice(2)
const target = parseDatabaseUrl(url)
if (!target.ok) throw new Error(target.error)
const db = await openDatabase(target.value)
const logger = { error: () => undefined, warn: () => undefined }
const changes = await createChanges({ db, target: target.value, bus: createEventBus({ logger }), logger })
await changes.commit(async (tx, announce) => {
  await tx.organization.create({ data: { name: 'of another process' } })
  announce(DomainEvent.parse(JSON.parse(event)))
})
await changes.close()
await db.close()
