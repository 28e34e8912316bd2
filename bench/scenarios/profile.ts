/** Shows where the time of a call goes: CPU time by thread and by part of the program, and flame graphs. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../bench.ts'
import { fromSource } from '../checkouts.ts'
import { drawFlameGraph, sumAreas, toFrames } from '../flame-graph.ts'
import { runLoad } from '../load.ts'
import { threadsOf } from '../proc.ts'
import { show } from '../report.ts'
import { FIRST_WARM_UP_MS, settle } from '../slices.ts'
import { startTargets, type Target } from '../targets.ts'
import { WORKS } from '../tools.ts'

const LOADS = [
  { file: 'flame-call.svg', work: WORKS.user, connections: 16 },
  { file: 'flame-large-result.svg', work: WORKS.big, connections: 4 },
]
const FOLDER = new URL('../../docs/img/', import.meta.url)
/** Areas with a smaller share are left out of the table. */
const MIN_SHARE = 0.005

const profileLoad = async (bench: Bench, target: Target, { file, work, connections }: (typeof LOADS)[number]) => {
  const { child, endpoint, era } = target
  const load = { endpoint, era, work, connections }
  const warm = await runLoad({ ...load, durationMs: FIRST_WARM_UP_MS })
  await settle()
  const before = threadsOf(child.pid)
  const stop = await child.profile()
  const { responses, errors } = await runLoad({ ...load, durationMs: bench.options.sliceMs })
  await settle()
  const after = threadsOf(child.pid)
  const root = toFrames(await stop())
  const wrong = Object.keys({ ...warm.errors, ...errors })
  if (wrong.length > 0) throw new Error(`some calls failed: ${wrong.join(', ')}`)
  writeFileSync(new URL(file, FOLDER), drawFlameGraph(root, `${work.title}, ${era} era: main thread`))
  bench.log(`wrote ${fileURLToPath(new URL(file, FOLDER))}`)
  const perCall = (ms: number): string => show((ms * 1_000) / responses)
  const threads = [...after].map(([name, ms]) => [name, ms - (before.get(name) ?? 0)] as const)
  bench.addTable({
    title: `${work.title}: CPU by thread, with the profiler`,
    columns: ['', 'us per call'],
    rows: threads
      .filter(([, ms]) => ms > 0)
      .sort(([, one], [, other]) => other - one)
      .map(([name, ms]) => [name, perCall(ms)]),
  })
  bench.addTable({
    title: `${work.title}: main thread by part of the program, without calls to other parts`,
    columns: ['', 'us per call', 'share'],
    rows: sumAreas(root)
      .filter(([, ms]) => ms > root.ms * MIN_SHARE)
      .map(([area, ms]) => [area, perCall(ms), (ms / root.ms).toFixed(3)]),
  })
}

export const runProfile = async (bench: Bench): Promise<void> => {
  const api = await bench.startOwn('fake-api', 'load')
  const { session } = await startTargets(bench, fromSource(bench.own), api.url)
  for (const load of LOADS) await profileLoad(bench, session, load)
}
