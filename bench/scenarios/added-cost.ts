/** Measures what a feature adds to the cost of a call: the same load with and without it, alternating. */
import type { Bench } from '../bench.ts'
import { addSliceTable, compareSlices, type Load, runInTurns, summarize } from '../slices.ts'
import { nameOf, type Target } from '../targets.ts'

/**
 * Measures the targets in turns with the floor. The first target of this checkout runs without the feature. `maxCost`
 * limits the CPU per request of the others, as a multiple of the first target's.
 */
export const runAddedCost = async (
  bench: Bench,
  { floor, targets, load, maxCost }: { floor: Target; targets: readonly Target[]; load: Load; maxCost: number },
): Promise<void> => {
  const all = [floor, ...targets]
  const [slices = []] = await runInTurns(bench, all, [load])
  const rows = all.map((target, index) => ({ target, summary: summarize(slices[index] ?? []) }))
  const [base, ...others] = rows.filter(({ target }) => target.checkout === 'this')
  if (base === undefined) return
  const named = rows.map(({ target, summary }) => [nameOf(target), summary] as const)
  addSliceTable(bench, load.title, named, base.summary)
  for (const { target, summary } of others) {
    bench.addFigure({
      title: `tools/call with ${target.name}, compared with ${base.target.name}: CPU per request`,
      required: { atMost: maxCost },
      measured: summary.cpuUs / base.summary.cpuUs,
      unit: 'x',
    })
  }
  compareSlices(bench, load.title, all, slices, slices[0] ?? [])
}
