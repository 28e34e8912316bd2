/** Measures the time to read parts of a result of 1 MB, and what a result of 10 MB does to a running server. */
import { explore } from '../../src/lib/json/explore.ts'
import { filter } from '../../src/lib/json/filter.ts'
import { parseDocument } from '../../src/lib/json/parse-document.ts'
import { renderDocument } from '../../src/lib/json/render-document.ts'
import type { Bench } from '../bench.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { measureSearch } from './answers-search.ts'
import { measureEventLoop } from './event-loop.ts'

const RECORDS_PER_MB = 5_000
const MAX_PROJECTION_MS = 10
const MAX_EXPLORE_MS = 20

const recordOf = (index: number) => ({
  id: index,
  sku: `SKU-${String(index).padStart(6, '0')}`,
  title: `Item number ${index}`,
  price: (index % 977) + 0.5,
  stock: index % 31,
  tags: ['a', 'b"c', 'déjà'],
  maker: { name: `Maker ${index % 113}`, country: index % 2 === 0 ? 'NL' : 'FR' },
  updated: '2026-01-01T00:00:00Z',
  note: 'lorem ipsum dolor sit amet, consectetur adipiscing elit'.slice(0, 12 + (index % 14)),
})
const answerOfOneMb = (): Buffer =>
  Buffer.from(JSON.stringify({ total: 1, items: Array.from({ length: RECORDS_PER_MB }, (_, id) => recordOf(id)) }))

const timeAll = (rounds: number, work: () => void): number[] =>
  Array.from({ length: rounds }, () => {
    const from = performance.now()
    work()
    return performance.now() - from
  })

const assertFound = (isFound: boolean, what: string): void => {
  if (!isFound) throw new Error(`${what} found nothing`)
}

/** Times each processor alone, in this thread. */
const measureProcessors = (bench: Bench, bytes: Buffer): void => {
  const rounds = bench.options.quick ? 5 : 100
  const { document } = parseDocument(bytes, 'application/json')
  const project = (): void => {
    const made = filter.apply(document, { fields: ['items[].title', 'items[].maker.name'] })
    assertFound(made.ok && renderDocument(made.value.document).includes('Maker 112'), 'the projection')
  }
  const times = {
    'parse and infer the shape': timeAll(rounds, () => void parseDocument(bytes, 'application/json')),
    'projection, written as text': timeAll(rounds, project),
    explore: timeAll(rounds, () => assertFound(explore.apply(document, {}).ok, 'explore')),
  }
  bench.addTable({
    title: `A result of ${show(bytes.length / 1e6)} MB, ${rounds} times each, in one thread`,
    columns: ['', 'median ms', 'p95 ms', 'max ms'],
    rows: Object.entries(times).map(([name, ms]) => [
      name,
      show(median(ms)),
      show(quantile(ms, 0.95)),
      show(Math.max(...ms)),
    ]),
  })
  bench.addFigure({
    title: 'projection of 1 MB, p50',
    required: { atMost: MAX_PROJECTION_MS },
    measured: median(times['projection, written as text']),
    unit: 'ms',
  })
  bench.addFigure({
    title: 'explore of 1 MB, p50',
    required: { atMost: MAX_EXPLORE_MS },
    measured: median(times.explore),
    unit: 'ms',
  })
}

export const runAnswers = async (bench: Bench): Promise<void> => {
  const bytes = answerOfOneMb()
  measureProcessors(bench, bytes)
  measureSearch(bench, parseDocument(bytes, 'application/json').document)
  await measureEventLoop(bench)
}
