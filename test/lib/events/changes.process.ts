// Commits a change that announces an event, as another process on the same database. Arguments: the database and the
// event.
import { openDatabase } from '../../../src/lib/db/client.ts'
import { parseDatabaseUrl } from '../../../src/lib/db/target.ts'
import { createChanges } from '../../../src/lib/events/changes.ts'
import { DomainEvent } from '../../../src/lib/events/domain-event.ts'
import { createEventBus } from '../../../src/lib/events/event-bus.ts'

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
