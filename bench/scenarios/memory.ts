/** The memory that an open session and an open stream hold, compared with a bare event stream of the floor. */
import type { Bench, Started } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { runLoad } from '../load.ts'
import { type Endpoint, type Session, STATELESS } from '../mcp.ts'
import type { Child } from '../process.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { openListeners, openSessions } from '../streams.ts'
import { startFloor, startTargets, type Target } from '../targets.ts'
import { WORKS } from '../tools.ts'
import type { EventStream } from '../wire.ts'

/** Bytes per opened session or stream. `heap` includes the external memory of heap objects. */
type Growth = { resident: number; heap: number }

/**
 * Duration of the load before anything is opened, so that the heap reaches its working size and its growth is not
 * attributed to a session.
 */
const WARM_UP_MS = 4_000
/** Number opened before the measurement starts, so that tables and pools have already grown. */
const WARM_UP = 250
/** Every round starts a new process. Memory varies little between them. */
const MAX_ROUNDS = 3
const TITLES = { session: 'session', getStream: 'GET stream of a session', listenStream: 'subscriptions/listen' }
const SESSION_BYTES = 10_000
const STREAM_BYTES = 25_000

const repeat = (session: Session, count: number): Session[] => Array.from({ length: count }, () => session)

const measureGrowth = async (
  child: Child,
  count: number,
  open: (count: number) => Promise<unknown>,
): Promise<Growth> => {
  await open(Math.min(WARM_UP, count))
  const before = await child.settledMemory()
  await open(count)
  const after = await child.settledMemory()
  return {
    resident: (after.rss - before.rss) / count,
    heap: (after.heapUsed + after.external - before.heapUsed - before.external) / count,
  }
}

/** Opens streams for the given sessions. `close` throws if the server has already closed any of them. */
const createStreamOpener = (endpoint: Endpoint, take: (count: number) => Session[]) => {
  const opened: EventStream[] = []
  return {
    open: async (count: number) => void opened.push(...(await openListeners(endpoint, take(count)))),
    close: (): void => {
      const lost = opened.filter(stream => !stream.isOpen()).length
      for (const stream of opened) stream.close()
      if (lost > 0) throw new Error(`${lost} of ${opened.length} streams were closed by the server`)
    },
  }
}

const warmUp = ({ endpoint, era }: Target) =>
  runLoad({ endpoint, era, work: WORKS.user, connections: 64, durationMs: WARM_UP_MS })

const measureFloor = async (bench: Bench, api: Started, count: number): Promise<Growth> => {
  const floor = await startFloor(bench, api.url)
  await warmUp(floor)
  const streams = createStreamOpener(floor.endpoint, wanted => repeat({ era: 'session', id: undefined }, wanted))
  const growth = await measureGrowth(floor.child, count, streams.open)
  streams.close()
  await floor.child.stop()
  return growth
}

const measurePatchbay = async (bench: Bench, checkout: Checkout, api: Started, count: number) => {
  const target = await startTargets(bench, checkout, api.url)
  const { child, endpoint } = target.session
  await warmUp(target.session)
  await warmUp(target.stateless)
  const sessions: Session[] = []
  const session = await measureGrowth(child, count, async wanted => {
    sessions.push(...(await openSessions(endpoint, wanted)))
  })
  const gets = createStreamOpener(endpoint, wanted => sessions.splice(0, wanted))
  const getStream = await measureGrowth(child, count, gets.open)
  gets.close()
  const listens = createStreamOpener(endpoint, wanted => repeat(STATELESS, wanted))
  const listenStream = await measureGrowth(child, count, listens.open)
  listens.close()
  await child.stop()
  return { session, getStream, listenStream }
}

type MeasuredCheckout = { checkout: Checkout; rounds: Awaited<ReturnType<typeof measurePatchbay>>[] }

/**
 * Returns the larger of the two growths. Resident memory does not show growth into free heap, and the heap does not
 * show memory outside it.
 */
const growthBeyond = (ours: readonly Growth[], floor: readonly Growth[]): number => {
  const of = (growths: readonly Growth[], key: keyof Growth) => median(growths.map(growth => growth[key]))
  if (floor.length === 0) return Math.max(of(ours, 'resident'), of(ours, 'heap'))
  return Math.max(of(ours, 'resident') - of(floor, 'resident'), of(ours, 'heap') - of(floor, 'heap'))
}

const toRow = (name: string, growths: readonly Growth[]): string[] => [
  name,
  show(median(growths.map(({ resident }) => resident)) / 1_000),
  show(median(growths.map(({ heap }) => heap)) / 1_000),
]

export const runMemory = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const count = quick ? 200 : 1_000
  const api = await bench.startOwn('fake-api', 'load')
  const floor: Growth[] = []
  const all = bench.checkouts.map((checkout): MeasuredCheckout => ({ checkout, rounds: [] }))
  for (let round = 1; round <= Math.min(rounds, MAX_ROUNDS); round++) {
    bench.log(`round ${round}: ${count} sessions and streams`)
    floor.push(await measureFloor(bench, api, count))
    for (const { checkout, rounds: measured } of inTurn(all, round)) {
      measured.push(await measurePatchbay(bench, checkout, api, count))
    }
  }
  const ours = all[0]?.rounds ?? []
  const sessions = ours.map(({ session }) => session)
  const gets = ours.map(({ getStream }) => getStream)
  const listens = ours.map(({ listenStream }) => listenStream)
  bench.addTable({
    title: `Memory per session or stream, with ${count} open, after a full garbage collection`,
    columns: ['', 'resident kB', 'heap and external kB'],
    rows: [
      toRow('floor, bare event stream', floor),
      toRow('patchbay, session', sessions),
      toRow('patchbay, GET stream of a session', gets),
      toRow('patchbay, subscriptions/listen', listens),
    ],
  })
  const add = (title: string, bytes: number, atMost: number) =>
    bench.addFigure({ title, required: { atMost: atMost / 1_000 }, measured: bytes / 1_000, unit: 'kB' })
  add('memory per open session', growthBeyond(sessions, []), SESSION_BYTES)
  add('memory per open stream, session era, beyond the floor', growthBeyond(gets, floor), STREAM_BYTES)
  add('memory per open stream, stateless era, beyond the floor', growthBeyond(listens, floor), STREAM_BYTES)
  for (const key of ['session', 'getStream', 'listenStream'] as const) {
    const valuesOf = (kind: keyof Growth) => all.map(each => each.rounds.map(round => round[key][kind] / 1_000))
    bench.compareValues(`memory per ${TITLES[key]}: resident`, 'kB', valuesOf('resident'))
    bench.compareValues(`memory per ${TITLES[key]}: heap`, 'kB', valuesOf('heap'))
  }
}
