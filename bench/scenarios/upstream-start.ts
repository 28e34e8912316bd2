/** Measures the time until Patchbay is ready if it knows many unreachable upstreams, for which it must not wait. */
import type { Bench } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { attachUpstream, createServer } from '../upstreams.ts'

const SERVERS = 4
const UPSTREAMS_PER_SERVER = 50
/** Minimum number of starts. A start is short and easily disturbed by other processes. */
const MIN_STARTS = 5
const MAX_RATIO = 1.5

const SIZES = ['none', 'many'] as const

/** Creates a database with this number of upstreams on each of its servers, including the upstreams' tool lists. */
const createDatabase = async (bench: Bench, checkout: Checkout, url: string, perServer: number): Promise<string> => {
  const directory = bench.createDirectory(`upstreams-${perServer}`)
  const { child, port } = await startPatchbay(bench, checkout, directory)
  const send = await signUp(port)
  for (let server = 0; server < SERVERS; server++) {
    const uuid = await createServer(send)
    for (let index = 0; index < perServer; index++) {
      await attachUpstream(send, uuid, { name: `up${index}`, transport: 'http', url })
    }
  }
  await child.stop()
  return directory
}

const prepare = async (bench: Bench, checkout: Checkout, url: string, perServer: number) => {
  const none = await createDatabase(bench, checkout, '', 0)
  const many = await createDatabase(bench, checkout, url, perServer)
  const readyMs: { none: number[]; many: number[] } = { none: [], many: [] }
  return { checkout, directories: { none, many }, readyMs }
}

export const runUpstreamStart = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const far = await bench.startOwn('mcp-upstream', 'load')
  const perServer = quick ? 5 : UPSTREAMS_PER_SERVER
  const count = SERVERS * perServer
  bench.log(`filling a database with ${count} upstreams`)
  const all: Awaited<ReturnType<typeof prepare>>[] = []
  for (const checkout of bench.checkouts) all.push(await prepare(bench, checkout, `${far.url}/mcp`, perServer))
  // The lists stay in the database, but the upstreams can no longer be reached.
  await far.child.stop()

  const starts = quick ? 2 : Math.max(rounds, MIN_STARTS)
  // The first start with each database only fills the file cache.
  for (let round = 0; round <= starts; round++) {
    for (const size of SIZES) {
      for (const { checkout, directories, readyMs } of inTurn(all, round)) {
        const started = await startPatchbay(bench, checkout, directories[size])
        if (round > 0) readyMs[size].push(started.readyMs)
        await started.child.stop()
      }
    }
    bench.log(`start ${round} of ${starts}`)
  }
  bench.addTable({
    title: `Start with ${count} known upstreams: ready after, ms`,
    columns: ['', 'no upstreams', `${count} upstreams`],
    rows: all.map(({ checkout, readyMs }) => [
      `${checkout.name} checkout`,
      show(median(readyMs.none)),
      show(median(readyMs.many)),
    ]),
  })
  const [own] = all
  bench.addFigure({
    title: `ready with ${count} known upstreams, compared with none`,
    required: { atMost: MAX_RATIO },
    measured: median(own?.readyMs.many ?? []) / median(own?.readyMs.none ?? []),
    unit: 'x',
  })
  bench.compareValues(
    `ready with ${count} known upstreams`,
    'ms',
    all.map(({ readyMs }) => readyMs.many),
  )
}
