/** The time until Patchbay is ready when it knows many upstreams, none of which it may wait for. */
import type { Bench } from '../bench.ts'
import { signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { attachUpstream, createServer } from '../upstreams.ts'

const SERVERS = 4
const UPSTREAMS_PER_SERVER = 50
/** A start is short and neighbours disturb it: never fewer. */
const MIN_STARTS = 5
const MAX_RATIO = 1.5

/** A database that knows so many upstreams on each of its servers, with their lists. */
const createDatabase = async (bench: Bench, url: string, perServer: number): Promise<string> => {
  const directory = bench.createDirectory(`upstreams-${perServer}`)
  const { child, port } = await startPatchbay(bench.rig, bench.options, directory)
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

export const runUpstreamStart = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const far = await bench.startOwn('mcp-upstream', 'load')
  const perServer = quick ? 5 : UPSTREAMS_PER_SERVER
  const count = SERVERS * perServer
  const none = await createDatabase(bench, '', 0)
  bench.say(`filling a database with ${count} upstreams`)
  const many = await createDatabase(bench, `${far.url}/mcp`, perServer)
  // As after a night: what was known is known, and nobody is there.
  await far.child.stop()

  const readyMs: { none: number[]; many: number[] } = { none: [], many: [] }
  const starts = quick ? 2 : Math.max(rounds, MIN_STARTS)
  // The first start of each only fills the file cache.
  for (let round = 0; round <= starts; round++) {
    for (const [key, directory] of [
      ['none', none],
      ['many', many],
    ] as const) {
      const started = await startPatchbay(bench.rig, bench.options, directory)
      if (round > 0) readyMs[key].push(started.readyMs)
      await started.child.stop()
    }
    bench.say(`start ${round} of ${starts}`)
  }
  bench.addTable({
    title: `Start with ${count} upstreams known`,
    columns: ['', 'no upstreams', `${count} upstreams`],
    rows: [['ready after, ms', show(median(readyMs.none)), show(median(readyMs.many))]],
  })
  bench.addFigure({
    title: `ready with ${count} upstreams known, beside none`,
    required: { atMost: MAX_RATIO },
    measured: median(readyMs.many) / median(readyMs.none),
    unit: 'x',
  })
}
