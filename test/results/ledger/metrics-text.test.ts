import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createJobPool } from '../../../src/jobs/job-pool.ts'
import { createStop } from '../../../src/lib/kernel/stop-signal.ts'
import { createMetricsText } from '../../../src/lib/process/metrics.ts'
import { createCallLedger } from '../../../src/results/ledger/call-ledger.ts'
import { listLedgerMetrics } from '../../../src/results/ledger/ledger-metrics.ts'
import { BUILT_JOBS } from '../../support/built-jobs.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { MEMORY } from '../../support/jobs.ts'
import { createCountingRecorder } from './counting-recorder.ts'
import { numberOf, readExposition } from './exposition-format.ts'

const workers = createJobPool({ memory: MEMORY, worker: BUILT_JOBS })
afterAll(() => workers.close())

/** How many results can wait to be counted at the same time. */
const AT_ONCE = 20

const begin = (pool = workers) => {
  const ledger = createCallLedger({
    countTexts: pool.job('count-tokens'),
    recorder: createCountingRecorder(() => undefined),
    onInternalError: () => undefined,
  })
  const { render } = createMetricsText(listLedgerMetrics(ledger))
  const collect = async () => readExposition(await render())
  const note = (serverId: string, name: string, text = 'Fine.'): void => {
    const cost = { executionId: name, tool: { serverId, name } }
    ledger.note({ result: { content: [{ type: 'text', text }] }, cost }, createStop())
  }
  const whenCounted = async (counted: number) => {
    await expect.poll(() => ledger.stats().counted, { timeout: 20_000 }).toBe(counted)
    return collect()
  }
  return { ledger, collect, note, whenCounted }
}

const namesOf = (metrics: Awaited<ReturnType<ReturnType<typeof begin>['collect']>>): string[] =>
  metrics.get('patchbay_answers_counted_total')?.series.map(({ labels }) => `${labels.server} ${labels.tool}`) ?? []

describe('the metrics of results', () => {
  it('have series for a thousand tools, sum the others, and reuse those of a removed server', async () => {
    const { ledger, note, whenCounted } = begin()
    for (let index = 0; index < 1_100; index++) {
      note(index < 30 ? 'first' : `server_${index % 4}`, `tool_${index}`)
      if ((index + 1) % AT_ONCE === 0) await whenCounted(index + 1)
    }
    const full = await whenCounted(1_100)
    const names = namesOf(full)
    expect(names).toHaveLength(1_001)
    expect(names.at(-1)).toBe('other other')
    expect(full.get('patchbay_answers_counted_total')?.series.at(-1)?.value).toBe(100)

    ledger.forgetServer('first')
    for (let index = 0; index < 40; index++) {
      note('third', `tool_${index}`)
      if ((index + 1) % AT_ONCE === 0) await whenCounted(1_100 + index + 1)
    }
    const after = namesOf(await whenCounted(1_140))
    expect(after.filter(name => name.startsWith('first '))).toEqual([])
    expect(after.filter(name => name.startsWith('third '))).toHaveLength(30)
    expect(after).toHaveLength(1_001)
  })

  it('have series for three hundred tools per server, sum its others, and leave room for other servers', async () => {
    const { note, whenCounted } = begin()
    for (let index = 0; index < 350; index++) {
      note('busy', `tool_${index}`)
      if ((index + 1) % AT_ONCE === 0) await whenCounted(index + 1)
    }
    note('quiet', 'tool')
    const metrics = await whenCounted(351)
    const names = namesOf(metrics)
    expect(names).toHaveLength(302)
    expect(names.slice(-2)).toEqual(['busy other', 'quiet tool'])
    expect(
      metrics
        .get('patchbay_answers_counted_total')
        ?.series.map(({ value }) => value)
        .slice(-2),
    ).toEqual([50, 1])
  })

  it('contain nothing of a server that was removed while its results waited to be counted', async () => {
    const { ledger, note, whenCounted } = begin()
    note('removed', 'tool')
    note('server', 'tool')
    ledger.forgetServer('removed')
    expect(namesOf(await whenCounted(2))).toEqual(['server tool'])
  })

  it('include results that are being counted', async () => {
    const { ledger, note, collect } = begin()
    for (let index = 0; index < AT_ONCE; index++) note('server', 'tool', `Answer ${index} of many. `.repeat(30))
    const totals = new Set<number>()
    const readTotal = async () => numberOf(await collect(), 'patchbay_ledger_answers_total')
    while (ledger.stats().waiting > 0) {
      totals.add(await readTotal())
      await setImmediate()
    }
    totals.add(await readTotal())
    expect([...totals]).toEqual([AT_ONCE])
  })

  it('report failed counts as not counted', async () => {
    const ended = createJobPool({ memory: MEMORY, worker: BUILT_JOBS })
    await ended.close()
    const { ledger, note, collect } = begin(ended)
    for (let index = 0; index < 3; index++) note('server', 'tool')
    await expect.poll(() => ledger.stats().notCounted, { timeout: 20_000 }).toBe(3)
    const metrics = await collect()
    const of = (name: string): number => numberOf(metrics, `patchbay_ledger_answers_${name}`)
    expect([of('total'), of('not_counted_total'), of('waiting')]).toEqual([3, 3, 0])
    expect(namesOf(metrics)).toEqual([])
  })
})

describe('the text of metrics', () => {
  it('escapes any label value correctly', async () => {
    const texts = fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 20 })
    const odd = ['say "hi"', 'two\nlines', 'back\\slash', 'no \\n line', '\\', '"', 'a="b",c="d"} 1\nx 2', '\r', '']
    await fc.assert(
      fc.asyncProperty(texts, async names => {
        const read = () => names.map((tool, value) => ({ labels: { server: 'one', tool }, value }))
        const metric = { name: 'test_calls_total', help: 'Calls\\n of "tools".', labelNames: ['server', 'tool'], read }
        const { render } = createMetricsText([{ kind: 'counter', ...metric }])
        const told = readExposition(await render()).get('test_calls_total')
        expect(told).toEqual({ kind: 'counter', help: metric.help, series: read() })
      }),
      { examples: [[odd]], numRuns: runsOf(200) },
    )
  })

  it('is current: removed series are not in it', async () => {
    let tools = ['one', 'two']
    const read = () => tools.map(tool => ({ labels: { tool }, value: 7 }))
    const metric = { help: 'Of tools.', labelNames: ['tool'], read }
    const { render } = createMetricsText([
      { kind: 'gauge', name: 'test_tokens', ...metric },
      { kind: 'counter', name: 'test_calls_total', ...metric },
    ])
    const readTools = async () =>
      [...readExposition(await render()).values()].map(({ series }) => series.map(({ labels }) => labels.tool))
    expect(await readTools()).toEqual([tools, tools])
    tools = ['two']
    expect(await readTools()).toEqual([tools, tools])
    tools = []
    expect(await readTools()).toEqual([[], []])
  })
})
