/** What looking into an answer of 1 MB takes, and how long the event loop waits for one of 10 MB. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { explore } from '../../src/context/answers/explore.ts'
import { filter } from '../../src/context/answers/filter.ts'
import { parseAnswer } from '../../src/context/answers/parse-answer.ts'
import { renderDocument } from '../../src/context/answers/render-document.ts'
import { createAnswerWork } from '../../src/context/index.ts'
import type { Bench } from '../bench.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { measureFrozen } from './answers-frozen.ts'
import { measureSearch } from './answers-search.ts'

const RECORDS_PER_MB = 5_000
const LARGE_MB = 10
const NANOSECONDS = 1_000_000
const MAX_PROJECTION_MS = 10
const MAX_EXPLORE_MS = 20
const MAX_BLOCKED_MS = 50
const BUDGET_TOKENS = 1_000

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
const answerOf = (megabytes: number): Buffer =>
  Buffer.from(
    JSON.stringify({ total: 1, items: Array.from({ length: RECORDS_PER_MB * megabytes }, (_, id) => recordOf(id)) }),
  )

const timeAll = (rounds: number, work: () => void): number[] =>
  Array.from({ length: rounds }, () => {
    const from = performance.now()
    work()
    return performance.now() - from
  })

const assertFound = (isFound: boolean, what: string): void => {
  if (!isFound) throw new Error(`${what} found nothing`)
}

/** What each takes by itself, in this thread. */
const measureProcessors = (bench: Bench, bytes: Buffer): void => {
  const rounds = bench.options.quick ? 5 : 100
  const { document } = parseAnswer(bytes, 'application/json')
  const project = (): void => {
    const made = filter.apply(document, { fields: ['items[].title', 'items[].maker.name'] })
    assertFound(made.ok && renderDocument(made.value.document).includes('Maker 112'), 'the projection')
  }
  const times = {
    'parse and look at the shape': timeAll(rounds, () => void parseAnswer(bytes, 'application/json')),
    'projection, written as text': timeAll(rounds, project),
    explore: timeAll(rounds, () => assertFound(explore.apply(document, {}).ok, 'explore')),
  }
  bench.addTable({
    title: `An answer of ${show(bytes.length / 1e6)} MB, ${rounds} times each, in one thread`,
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

/** How long the event loop stands still while threads look into a large answer, from the first look on. */
const measureBlocking = async (bench: Bench, bytes: Buffer): Promise<void> => {
  const looks = {
    'its beginning': {},
    'projection and a page': { filter: { fields: ['items[].title'], limit: 20 } },
    'all of a projection': { filter: { fields: ['items[].sku', 'items[].maker'] } },
    'a regular expression': { search: { pattern: 'number \\d*77$', mode: 'regex' } },
    explore: { explore: {} },
  } as const
  const work = createAnswerWork({ timeLimitMs: 60_000 })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const rows: string[][] = []
  let worstMs = 0
  try {
    for (const [name, steps] of Object.entries(looks)) {
      delay.reset()
      delay.enable()
      // It counts from its first turn on: what stands still before is not seen.
      await new Promise(resolve => setTimeout(resolve, 5))
      const from = performance.now()
      const seen = await work.look({
        owner: 'bench',
        bytes,
        key: 'large',
        steps,
        budgetTokens: BUDGET_TOKENS,
        keepsWhole: true,
      })
      const tookMs = performance.now() - from
      // What the answer brings back is taken in by the loop too.
      await new Promise(resolve => setTimeout(resolve, 5))
      delay.disable()
      if (!seen.ok) throw new Error(`${name}: ${seen.error.message}`)
      const blockedMs = delay.max / NANOSECONDS
      worstMs = Math.max(worstMs, blockedMs)
      rows.push([name, show(tookMs), show(blockedMs), show(seen.value.tokensAfter), show(seen.value.tokensShown)])
    }
  } finally {
    await work.close()
  }
  bench.addTable({
    title: `Looks into an answer of ${show(bytes.length / 1e6)} MB, one after the other, in threads`,
    columns: ['', 'took ms', 'event loop stood still ms', 'tokens found', 'tokens shown'],
    rows,
  })
  bench.addFigure({
    title: 'event loop stood still for 10 MB',
    required: { atMost: MAX_BLOCKED_MS },
    measured: worstMs,
    unit: 'ms',
  })
}

export const runAnswers = async (bench: Bench): Promise<void> => {
  const bytes = answerOf(1)
  measureProcessors(bench, bytes)
  measureSearch(bench, parseAnswer(bytes, 'application/json').document)
  await measureBlocking(bench, answerOf(bench.options.quick ? 1 : LARGE_MB))
  await measureFrozen(bench)
}
