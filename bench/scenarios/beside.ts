/** What something adds to a call: the same load with it and without, in turns. */
import type { Bench } from '../bench.ts'
import { show } from '../report.ts'
import type { Target } from '../targets.ts'
import { COLUMNS, FIRST_WARM_UP_MS, type Load, runSlice, type Slice, summarize, toRow, WARM_UP_MS } from './calls.ts'

/** The first of the targets is what the others are compared with; `maxCost`: of their CPU per request to its. */
export const runBeside = async (
  bench: Bench,
  targets: readonly Target[],
  { load, title, maxCost }: { load: Load; title: string; maxCost: number },
): Promise<void> => {
  const slices = targets.map((): Slice[] => [])
  for (let round = 1; round <= bench.options.rounds; round++) {
    for (const [index, target] of targets.entries()) {
      const isFirst = round === 1 && !bench.options.quick
      const slice = await runSlice(bench, target, load, isFirst ? FIRST_WARM_UP_MS : WARM_UP_MS)
      slices[index]?.push(slice)
      bench.say(`round ${round}: ${target.name}: ${show(slice.requestsPerSecond)} req/s, ${show(slice.cpuUs)} us`)
    }
  }
  const summaries = slices.map(summarize)
  const [base] = summaries
  if (base === undefined) return
  const rows = summaries.map((summary, index) => toRow(targets[index]?.name ?? '', summary, base))
  bench.addTable({ title, columns: ['', ...COLUMNS], rows })
  for (const [index, summary] of summaries.entries()) {
    const name = targets[index]?.name ?? ''
    for (const [fault, count] of summary.errors) bench.addBroken(`${name}: ${count} x ${fault}`)
    if (index === 0) continue
    bench.addFigure({
      title: `tools/call with ${name}, beside ${targets[0]?.name ?? ''}: CPU per request`,
      required: { atMost: maxCost },
      measured: summary.cpuUs / base.cpuUs,
      unit: 'x',
    })
  }
}
