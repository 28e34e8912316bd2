/** Measures the time to search a result of 1 MB, with a new index and with an existing one. */
import type { ResultDocument } from '../../src/lib/json/result-document.ts'
import type { SearchParams } from '../../src/lib/search/query.ts'
import { searchIndex } from '../../src/lib/search/search.ts'
import { buildIndex } from '../../src/lib/search/search-index.ts'
import type { Bench } from '../bench.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'

const SEARCHES: readonly { name: string; params: SearchParams; firstMs?: number; laterMs?: number }[] = [
  { name: 'regular expression with a literal', params: { pattern: 'number \\d*77$', mode: 'regex' }, firstMs: 10 },
  {
    name: 'regular expression with a literal, ignoring case',
    params: { pattern: 'NUMBER \\d*77$', mode: 'regex', caseInsensitive: true },
    firstMs: 10,
  },
  {
    name: 'regular expression without a literal',
    params: { pattern: '\\b[a-z]+\\d{2}[.,]?$', mode: 'regex' },
    firstMs: 100,
  },
  { name: 'regular expression (a+)+$', params: { pattern: '(a+)+$', mode: 'regex' }, firstMs: 100 },
  { name: 'BM25', params: { pattern: 'item maker 77 lorem', mode: 'bm25' }, firstMs: 60, laterMs: 10 },
  { name: 'fuzzy', params: { pattern: 'nmuber', mode: 'fuzzy' } },
  { name: 'text', params: { pattern: 'Maker 112', mode: 'text' } },
  { name: 'context', params: { pattern: 'Maker 112', mode: 'context' } },
]

const took = (work: () => { ok: boolean }): number => {
  const from = performance.now()
  if (!work().ok) throw new Error('a search failed')
  return performance.now() - from
}

/** Rounds before the measurement: V8 takes a quarter of a second to compile hot code. */
const WARM_UP_ROUNDS = 20

export const measureSearch = (bench: Bench, document: ResultDocument): void => {
  const rounds = bench.options.quick ? 3 : 30
  for (let round = 0; round < (bench.options.quick ? 1 : WARM_UP_ROUNDS); round++) {
    for (const { params } of SEARCHES) took(() => searchIndex(buildIndex(document), params))
  }
  const rows = SEARCHES.map(({ name, params, firstMs, laterMs }) => {
    const first: number[] = []
    const later: number[] = []
    for (let round = 0; round < rounds; round++) {
      let index = buildIndex({ kind: 'text', text: '', format: 'text' })
      const buildAndSearch = () => {
        index = buildIndex(document)
        return searchIndex(index, params)
      }
      first.push(took(buildAndSearch))
      later.push(took(() => searchIndex(index, params)))
    }
    const add = (when: string, required: number | undefined, times: readonly number[]) => {
      if (required === undefined) return
      const measured = median([...times])
      bench.addFigure({ title: `${name}, 1 MB, ${when}, p50`, required: { atMost: required }, measured, unit: 'ms' })
    }
    add('first search', firstMs, first)
    add('later searches', laterMs, later)
    return [name, show(median(first)), show(quantile(first, 0.95)), show(median(later)), show(quantile(later, 0.95))]
  })
  bench.addTable({
    title: `Searches of the same result, ${rounds} times each, in one thread`,
    columns: ['', 'first: median ms', 'p95 ms', 'later: median ms', 'p95 ms'],
    rows,
  })
}
