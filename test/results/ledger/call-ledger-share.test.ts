import { afterAll, describe, expect, it } from 'vitest'
import type { ExecutionTokens } from '../../../src/history/execution-record.ts'
import { createJobPool } from '../../../src/job-pool.ts'
import { createStop } from '../../../src/lib/kernel/stop-signal.ts'
import { countTokens } from '../../../src/lib/tokens/tokens.ts'
import { createCallLedger } from '../../../src/results/ledger/call-ledger.ts'

const workers = createJobPool()
afterAll(() => workers.close())

const textOf = (index: number): string => `Answer ${index} says that it is the one of that number, and nothing else.`

/** A ledger, and what it has written. */
const begin = (timeShare?: { msPerSecond: number; maxSavedMs: number }) => {
  const written: ExecutionTokens[] = []
  const errors: unknown[] = []
  const ledger = createCallLedger({
    count: workers.job('count-results'),
    recorder: { recordTokens: tokens => void written.push(tokens) },
    onInternalError: error => void errors.push(error),
    ...(timeShare && { timeShare }),
  })
  const send = (executionId: string, text: string, account: object = {}, signal = createStop()): void =>
    ledger.note({ account: { executionId, ...account }, signal }, { content: [{ type: 'text', text }] })
  return { ledger, written, errors, send }
}

describe('the ledger of calls', () => {
  it('counts what something was left out of before all else, and remembers what it has counted', async () => {
    const { ledger, written, errors, send } = begin()
    for (let index = 0; index < 5; index++) send(`plain ${index}`, textOf(7))
    send('cut', 'The beginning.', { whole: { tokens: 900, texts: [] } })
    await expect.poll(() => written.length, { timeout: 20_000 }).toBe(6)
    const sent = await countTokens('The beginning.')
    expect(written[0]).toEqual({ executionId: 'cut', before: 900, sent, otherwise: 900 })
    const plain = await countTokens(textOf(7))
    expect(written[5]).toEqual({ executionId: 'plain 4', before: plain, sent: plain, otherwise: plain })
    expect(ledger.stats()).toEqual({
      counted: 6,
      notCounted: 0,
      waiting: 0,
      tokensBefore: 900 + 5 * plain,
      tokensSent: sent + 5 * plain,
    })
    expect(errors).toEqual([])
    await ledger.close()
  })

  it('holds no image while an answer waits: what is beside it is counted, however large it is', async () => {
    const { ledger, written } = begin()
    const note = (executionId: string, sent: Parameters<typeof ledger.note>[1]) =>
      ledger.note({ account: { executionId }, signal: createStop() }, sent)
    const content = [
      { type: 'text' as const, text: textOf(3) },
      { type: 'image' as const, data: 'A'.repeat(3_000_000), mimeType: 'image/png' },
    ]
    note('ours', { content })
    note('passed on', { passed: { content }, json: JSON.stringify({ content }) })
    await expect.poll(() => written.length, { timeout: 20_000 }).toBe(2)
    const sent = await countTokens(textOf(3))
    expect(written.map(one => one.sent)).toEqual([sent, sent])
    await ledger.close()
  })

  it('claims nothing of an answer of which nobody knows how long it was, and of one that was cut before', async () => {
    const { ledger, written, send } = begin()
    send('unknown', textOf(1), { whole: null })
    send('again', textOf(2), { whole: { tokens: 500, texts: [] }, isCutBefore: true })
    await expect.poll(() => written.length, { timeout: 20_000 }).toBe(2)
    const [one, two] = [await countTokens(textOf(1)), await countTokens(textOf(2))]
    expect(written).toEqual([
      { executionId: 'unknown', before: undefined, sent: one, otherwise: one },
      { executionId: 'again', before: 500, sent: two, otherwise: 0 },
    ])
    await ledger.close()
  })

  it('counts nothing where it has no time, holds so many and no more, and says so', async () => {
    const { ledger, written, send } = begin({ msPerSecond: 0, maxSavedMs: 0 })
    for (let index = 0; index < 600; index++) send(`${index}`, textOf(index))
    send('too long', 'x'.repeat(3_000_000))
    expect(ledger.stats()).toMatchObject({ counted: 0, notCounted: 101, waiting: 500 })
    await ledger.close()
    expect(written).toEqual([])
  })

  it('goes on where it was stopped once there is time again', async () => {
    const { ledger, written, send } = begin({ msPerSecond: 800, maxSavedMs: 1 })
    for (let index = 0; index < 120; index++) send(`${index}`, textOf(index).repeat(20))
    await expect.poll(() => written.length, { timeout: 30_000 }).toBe(120)
    expect(written.map(({ executionId }) => executionId)).toEqual(Array.from({ length: 120 }, (_, index) => `${index}`))
    await ledger.close()
  })

  it('counts no answer that nobody got', async () => {
    const { ledger, send } = begin()
    const signal = createStop()
    signal.abort()
    send('cancelled', textOf(1), {}, signal)
    ledger.note({ account: undefined, signal: createStop() }, { content: [] })
    ledger.note({ account: { executionId: 'refused' }, signal: createStop() }, { refused: { code: 1, message: 'no' } })
    expect(ledger.stats()).toMatchObject({ counted: 0, notCounted: 0, waiting: 0 })
    await ledger.close()
  })
})
