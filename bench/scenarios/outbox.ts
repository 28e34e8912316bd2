/** Measures how many events the outbox accepts and hands on, on SQLite and PostgreSQL. */
import { z } from 'zod'
import type { Bench } from '../bench.ts'
import { signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'

const SCRIPT = new URL('../outbox-events.ts', import.meta.url).pathname
const MIN_EVENTS_PER_SECOND = 1_000
/** Failed calls of a round, and changes, each in a transaction of its own. */
const CALLS = { full: 5_000, quick: 500 }
const CHANGES = { full: 500, quick: 50 }

const Server = z.object({ id: z.string(), organizationId: z.string() })
const perRound = z.array(z.number())
const Speeds = z.object({ calls: perRound, changes: perRound, dispatched: perRound })

/** Creates a database with a server, and a webhook that gets its events. Nothing is sent: Patchbay is stopped. */
const prepare = async (bench: Bench, database: string, url: string | undefined) => {
  const [checkout] = bench.checkouts
  if (checkout === undefined) throw new Error('no checkout was given')
  const directory = bench.createDirectory(`outbox-${database}`)
  const databaseUrl = url ?? `file:${directory}/patchbay.db`
  const { child, port } = await startPatchbay(bench, checkout, directory, { DATABASE_URL: databaseUrl })
  const send = await signUp(port)
  const server = Server.parse(await send('POST', '/servers', { name: 'Benchmark' }))
  const webhook = { url: 'https://hooks.example.test/', events: ['call.failed', 'server.changed'] }
  await send('POST', `/organizations/${server.organizationId}/webhooks`, webhook)
  await child.stop()
  return { server, databaseUrl }
}

const measureOn = async (bench: Bench, database: string, url: string | undefined): Promise<void> => {
  const { quick, rounds } = bench.options
  const size = quick ? 'quick' : 'full'
  const { server, databaseUrl } = await prepare(bench, database, url)
  const options = {
    database: databaseUrl,
    server: server.id,
    organization: server.organizationId,
    rounds,
    calls: CALLS[size],
    changes: CHANGES[size],
  }
  const args = [SCRIPT, ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)]
  const { stdout, stop } = bench.rig.startPiped({ name: 'outbox-events', side: 'both', args })
  let printed = ''
  for await (const chunk of stdout.setEncoding('utf8')) printed += String(chunk)
  await stop()
  const speeds = Speeds.parse(JSON.parse(printed))
  bench.addTable({
    title: `Events a second on ${database}, medians of the rounds`,
    columns: ['', 'events/s'],
    rows: [
      ['failed calls, with their history', show(median(speeds.calls))],
      ['changes, one after the other', show(median(speeds.changes))],
      ['given their deliveries', show(median(speeds.dispatched))],
    ],
  })
  bench.addFigure({
    title: `events of calls accepted by the outbox, ${database}`,
    required: { atLeast: MIN_EVENTS_PER_SECOND },
    measured: median(speeds.calls),
    unit: 'events/s',
  })
}

export const runOutbox = async (bench: Bench): Promise<void> => {
  await measureOn(bench, 'SQLite', undefined)
  const postgres = await bench.startOwn('postgres', 'both')
  await measureOn(bench, 'PostgreSQL', await (await fetch(postgres.url)).text())
}
