import { afterAll, describe, expect, it } from 'vitest'
import type { ExecutionTokens } from '../../../src/history/execution-record.ts'
import { createJobPool } from '../../../src/jobs/job-pool.ts'
import { createStop } from '../../../src/lib/kernel/stop-signal.ts'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import { createCallLedger } from '../../../src/results/ledger/call-ledger.ts'
import type { ToolOutcome } from '../../../src/runtime/call/compiled-tool.ts'
import { BUILT_JOBS } from '../../support/built-jobs.ts'
import { MEMORY } from '../../support/jobs.ts'
import { createCountingRecorder } from './counting-recorder.ts'

const workers = createJobPool({ memory: MEMORY, worker: BUILT_JOBS })
afterAll(() => workers.close())

const textOf = (index: number): string => `Result ${index} says that it has this number, and nothing else.`

/** Creates a ledger and collects what it records. */
const begin = () => {
  const recorded: ExecutionTokens[] = []
  const errors: unknown[] = []
  const ledger = createCallLedger({
    countTexts: workers.job('count-tokens'),
    recorder: createCountingRecorder(tokens => void recorded.push(tokens)),
    onInternalError: error => void errors.push(error),
  })
  const send = (executionId: string, text: string, cost: object = {}, signal = createStop()): void =>
    ledger.note({ result: { content: [{ type: 'text', text }] }, cost: { executionId, ...cost } }, signal)
  const whenRecorded = (count: number) => expect.poll(() => recorded.length, { timeout: 20_000 }).toBe(count)
  return { ledger, recorded, errors, send, whenRecorded }
}

describe('the ledger', () => {
  it('counts short results, whole and as sent', async () => {
    const { ledger, recorded, errors, send, whenRecorded } = begin()
    for (let index = 0; index < 5; index++) send(`plain ${index}`, textOf(7))
    send('cut', 'The beginning.', { whole: { tokens: 900, texts: [] } })
    await whenRecorded(6)
    const sent = await countTokens('The beginning.')
    const plain = await countTokens(textOf(7))
    const exact = { isEstimated: false }
    expect(recorded[0]).toEqual({
      executionId: 'plain 0',
      before: plain,
      sent: plain,
      otherwise: plain,
      size: plain,
      ...exact,
    })
    expect(recorded[5]).toEqual({ executionId: 'cut', before: 900, sent, otherwise: 900, size: 900, ...exact })
    const sums = { tokensBefore: 900 + 5 * plain, tokensSent: sent + 5 * plain }
    expect(ledger.stats()).toEqual({ counted: 6, notCounted: 0, waiting: 0, ...sums })
    expect(errors).toEqual([])
  })

  it('estimates a long result from its beginning, and marks it', async () => {
    const { ledger, recorded, send, whenRecorded } = begin()
    const text = Array.from({ length: 3_000 }, (_, index) => textOf(index)).join(' ')
    send('long', text)
    const utf8 = Buffer.from(text)
    ledger.note({ result: { utf8 }, cost: { executionId: 'long as bytes' } }, createStop())
    await whenRecorded(2)
    const exact = await countTokens(text)
    for (const { sent, before, isEstimated } of recorded) {
      expect(isEstimated).toBe(true)
      expect(before).toBe(sent)
      expect(Math.abs(sent - exact) / exact).toBeLessThan(0.1)
    }
  })

  it('estimates what is more than one batch may hold by its length, and counts nothing else of it', async () => {
    const { ledger, recorded, send, whenRecorded } = begin()
    const text = textOf(1).repeat(1_000).slice(0, 7_000)
    for (let index = 0; index < 24; index++) send(`${index}`, text)
    await whenRecorded(24)
    expect(recorded[0]?.isEstimated).toBe(false)
    expect(recorded.at(-1)).toMatchObject({ sent: Math.ceil(text.length / 4), isEstimated: true })
    expect(ledger.stats()).toMatchObject({ counted: 24, notCounted: 0, waiting: 0 })
  })

  it('counts no more results of one batch than there is time for, and says so', async () => {
    const { ledger, send, whenRecorded } = begin()
    for (let index = 0; index < 100; index++) send(`${index}`, textOf(index))
    expect(ledger.stats()).toMatchObject({ notCounted: 76, waiting: 24 })
    await whenRecorded(24)
  })

  it('gives a limit an estimate of the results for which there is no time', async () => {
    const { send, whenRecorded } = begin()
    const counted: number[] = []
    for (let index = 0; index < 30; index++) {
      send(`${index}`, textOf(7), { countTokens: (tokens: number) => void counted.push(tokens) })
    }
    const estimated = Math.ceil(textOf(7).length / 4)
    expect(counted).toEqual(Array(6).fill(estimated))
    await whenRecorded(24)
    expect(counted).toEqual([...Array(6).fill(estimated), ...Array(24).fill(await countTokens(textOf(7)))])
  })

  it('counts the text beside an image, however large the image is', async () => {
    const { ledger, recorded, whenRecorded } = begin()
    const note = (executionId: string, sent: ToolOutcome['result']) =>
      ledger.note({ result: sent, cost: { executionId } }, createStop())
    const content = [
      { type: 'text' as const, text: textOf(3) },
      { type: 'image' as const, data: 'A'.repeat(3_000_000), mimeType: 'image/png' },
    ]
    note('ours', { content })
    note('passed on', { passed: { content }, json: JSON.stringify({ content }) })
    await whenRecorded(2)
    const sent = await countTokens(textOf(3))
    expect(recorded.map(one => one.sent)).toEqual([sent, sent])
  })

  it('claims no saving for a result of unknown length, and none twice', async () => {
    const { recorded, send, whenRecorded } = begin()
    send('unknown', textOf(1), { whole: null })
    send('again', textOf(2), { whole: { tokens: 500, texts: [] }, isCutBefore: true })
    await whenRecorded(2)
    const [one, two] = [await countTokens(textOf(1)), await countTokens(textOf(2))]
    expect(recorded).toEqual([
      { executionId: 'unknown', before: undefined, sent: one, otherwise: one, size: one, isEstimated: false },
      { executionId: 'again', before: 500, sent: two, otherwise: 0, size: 500, isEstimated: false },
    ])
  })

  it('counts no result that nobody received', () => {
    const { ledger, send } = begin()
    const signal = createStop()
    signal.abort()
    send('cancelled', textOf(1), {}, signal)
    ledger.note({ result: { content: [] }, cost: undefined }, createStop())
    const refused = { code: 1, message: 'no' }
    ledger.note({ result: { refused }, cost: { executionId: 'refused' } }, createStop())
    expect(ledger.stats()).toMatchObject({ counted: 0, notCounted: 0, waiting: 0 })
  })
})
