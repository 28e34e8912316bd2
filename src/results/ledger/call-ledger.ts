import { setTimeout as delay } from 'node:timers/promises'
import type { Recorder } from '../../history/execution-record.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { Job } from '../../lib/worker/job.ts'
import { type CallCost, MAX_COUNTED_CHARACTERS, type Measure } from '../../runtime/call/call-cost.ts'
import type { ToolOutcome } from '../../runtime/call/compiled-tool.ts'
import { isLongText, isRefused, type ToolResult, type UpstreamResult } from '../../runtime/call/tool-result.ts'
import { readTexts } from '../budget/result-parts.ts'
import { createToolTotals } from './tool-totals.ts'

/** Maximum characters counted per batch, about ten milliseconds of work. Further results are estimated by length. */
const MAX_BATCH_CHARACTERS = 128 * 1_024
const CHARACTERS_PER_TOKEN = 4
/** Maximum results per batch of 100 ms: counting one takes a seventh of a call's CPU. Further ones are not counted. */
const MAX_BATCH_RESULTS = 24
/** How long the history waits for a count. Counts that take longer are added to their rows later. */
const MAX_WAIT_MS = 50
const OWNER = 'ledger'

export type CallLedgerOptions = {
  countTexts: Job<readonly string[], number[]>
  recorder: Pick<Recorder, 'recordTokens' | 'countBeforeWrite' | 'noteUncounted'>
  onInternalError: (error: unknown) => void
}

/** Totals since startup. The token totals cover only counted results, including estimates. */
export type LedgerStats = {
  counted: number
  notCounted: number
  /** Number of results that are being counted or are waiting. */
  waiting: number
  tokensBefore: number
  tokensSent: number
}

/** Known tokens, plus texts whose token count is multiplied by `scale`. */
type Sample = Required<Measure>
type Waiting = { cost: CallCost; sent: Sample; whole: Sample | undefined }

/** Copies the text, because a slice would keep the whole string in memory. */
const copy = (text: string): string => Buffer.from(text).toString()

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0)

const toSample = ({ tokens, texts, scale = 1, isEstimated = false }: Measure): Sample => {
  const characters = lengthOf(texts)
  if (characters <= MAX_COUNTED_CHARACTERS) return { tokens, texts, scale, isEstimated: isEstimated || scale > 1 }
  const parts: string[] = []
  let left = MAX_COUNTED_CHARACTERS
  for (const text of texts) {
    if (left > 0) parts.push(copy(text.slice(0, left)))
    left -= text.length
  }
  return { tokens, texts: parts, scale: (scale * characters) / MAX_COUNTED_CHARACTERS, isEstimated: true }
}

type Sent = Exclude<ToolResult | UpstreamResult, { refused: unknown }>

/** Returns the texts to count of a result, or a sample of them. `known` is set if a part has been counted already. */
export const sampleSent = (sent: Sent, known?: Measure): Sample => {
  if (known !== undefined) return toSample(known)
  if (!isLongText(sent) || sent.utf8.length <= MAX_COUNTED_CHARACTERS)
    return toSample({ tokens: 0, texts: readTexts(sent) })
  const beginning = sent.utf8.toString('utf8', 0, MAX_COUNTED_CHARACTERS)
  return { tokens: 0, texts: [beginning], scale: sent.utf8.length / MAX_COUNTED_CHARACTERS, isEstimated: true }
}

/** Estimates the tokens by length alone. */
const estimate = (sample: Sample): Sample => {
  if (sample.texts.length === 0) return sample
  const tokens = sample.tokens + Math.ceil((lengthOf(sample.texts) * sample.scale) / CHARACTERS_PER_TOKEN)
  return { tokens, texts: [], scale: 1, isEstimated: true }
}

const textsOf = ({ sent, whole }: Waiting): readonly string[] => [...sent.texts, ...(whole?.texts ?? [])]

/**
 * Counts the tokens of results in the worker pool, before the recorder writes their rows. Short results are counted
 * whole; longer ones are estimated and marked as such.
 */
export const createCallLedger = ({ countTexts, recorder, onInternalError }: CallLedgerOptions) => {
  const totals = { counted: 0, notCounted: 0, tokensBefore: 0, tokensSent: 0 }
  const tools = createToolTotals()
  let waiting: Waiting[] = []
  let waitingCharacters = 0
  let inProgress = 0
  /** Number of results whose whole is still being counted elsewhere. */
  let awaited = 0
  let running: Promise<void> | undefined

  const report = ({ cost, sent, whole }: Waiting, tokensSent: number, tokensWhole: number | undefined): void => {
    const { executionId, tool } = cost
    const before = tokensWhole ?? tokensSent
    // What shaping left out was never part of the result.
    const isShapedOnly = cost.sent === undefined && typeof cost.whole === 'function'
    const otherwise = cost.isCutBefore === true ? 0 : before
    recorder.recordTokens({
      executionId,
      before: cost.whole === null ? undefined : before,
      sent: tokensSent,
      otherwise,
      size: isShapedOnly ? tokensSent : Math.max(before, tokensSent),
      isEstimated: sent.isEstimated || whole?.isEstimated === true,
    })
    cost.countTokens?.(tokensSent)
    totals.counted++
    totals.tokensBefore += otherwise
    totals.tokensSent += tokensSent
    if (tool !== undefined) tools.add(tool, otherwise, tokensSent, cost.isMismatch === true)
  }

  /** Skips a result. A limit still gets an estimate, or many calls at once would escape it. */
  const skip = (cost: CallCost, sent: () => Sample): void => {
    totals.notCounted++
    cost.countTokens?.(estimate(sent()).tokens)
  }

  const countBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const texts = batch.flatMap(textsOf)
    const counted = texts.length === 0 ? undefined : await countTexts.run(OWNER, texts)
    if (counted?.ok === false) {
      for (const { cost, sent } of batch) skip(cost, () => sent)
      return
    }
    const counts = (counted?.value ?? []).values()
    const sum = ({ tokens, texts, scale }: Sample): number => {
      const counted = texts.reduce(all => all + (counts.next().value ?? 0), 0)
      return texts.length === 0 ? tokens : tokens + Math.round(counted * scale)
    }
    for (const one of batch) report(one, sum(one.sent), one.whole && sum(one.whole))
  }

  const countWaiting = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    waitingCharacters = 0
    inProgress = batch.length
    try {
      await countBatch(batch)
    } catch (error) {
      for (const { cost, sent } of batch) skip(cost, () => sent)
      onInternalError(error)
    } finally {
      inProgress = 0
      running = undefined
      if (waiting.length > 0) recorder.noteUncounted()
    }
  }

  recorder.countBeforeWrite(async () => {
    if (waiting.length > 0) running ??= countWaiting()
    await Promise.race([running, delay(MAX_WAIT_MS, undefined, { ref: false })])
  })

  const add = (cost: CallCost, sent: Sample, measured: Measure | null | undefined): void => {
    const whole = measured ? toSample(measured) : undefined
    const characters = lengthOf(sent.texts) + lengthOf(whole?.texts ?? [])
    const hasRoom = waitingCharacters + characters <= MAX_BATCH_CHARACTERS
    waiting.push(hasRoom ? { cost, sent, whole } : { cost, sent: estimate(sent), whole: whole && estimate(whole) })
    if (hasRoom) waitingCharacters += characters
    recorder.noteUncounted()
  }

  /** Adds the result when its tokens are exact, or are known to stay an estimate. */
  const addLater = async (cost: CallCost, sent: Sample, estimated: Measure): Promise<void> => {
    awaited++
    const tokens = await cost.exactTokens
    awaited--
    add(cost, sent, tokens === undefined ? estimated : { ...estimated, tokens, isEstimated: false })
  }

  return {
    /** Receives every outcome that is sent. Results of recorded calls are counted with the next batch of rows. */
    note: ({ result, cost }: ToolOutcome, signal: StopSignal): void => {
      if (cost === undefined || isRefused(result) || signal.aborted) return
      if (waiting.length >= MAX_BATCH_RESULTS) {
        skip(cost, () => sampleSent(result, cost.sent))
        return
      }
      const measured = typeof cost.whole === 'function' ? cost.whole() : cost.whole
      const sent = sampleSent(result, cost.sent)
      if (cost.exactTokens !== undefined && measured) void addLater(cost, sent, measured)
      else add(cost, sent, measured)
    },
    stats: (): LedgerStats => ({ ...totals, waiting: awaited + waiting.length + inProgress }),
    /** Lists the totals by tool. Tools beyond the limits share one total. */
    listTools: tools.list,
    listServers: tools.listServers,
    forgetServer: tools.forgetServer,
  }
}

export type CallLedger = ReturnType<typeof createCallLedger>
