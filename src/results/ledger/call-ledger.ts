import type { ExecutionTokens, Recorder } from '../../history/execution-record.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { Job } from '../../lib/worker/job.ts'
import type { CallAccount, Measure } from '../../runtime/call/call-account.ts'
import {
  isLongText,
  isPassed,
  isRefused,
  type PassedAnswer,
  type SentCall,
  type ToolResult,
} from '../../runtime/call/compiled-server.ts'
import { listTexts, readTexts } from '../budget/result-parts.ts'
import type { AnswerTokens, AnswerTokensJob } from './answer-tokens-job.ts'
import { createTimeShare, type TimeShareLimits } from './time-share.ts'
import { createToolTotals } from './tool-totals.ts'
import { createWaitingAnswers, type WaitingAnswer } from './waiting-answers.ts'

/** A fiftieth of one core. What is saved up lets a server that is called now and then have all its calls counted. */
const TIME_SHARE: TimeShareLimits = { msPerSecond: 20, maxSavedMs: 250 }
/** Longest that one job may take of it. */
const MAX_JOB_MS = 100
/**
 * Most that a job is taken to have cost: one that starts the thread takes longer, and what waits would be held, with the
 * thread and its tables, until that is made up for. A thread stays for so long that this is seldom.
 */
const MAX_COST_MS = 250
/** What a job is taken to have cost that did not end by itself. */
const FAILED_JOB_MS = 500
/** Bytes of answers counted in one job: some tens of milliseconds. */
const JOB_BYTES = 128 * 1_024
/**
 * What a byte takes of it at least, which is what counting one takes: a text that was counted before is not counted
 * again, and would still have to be held, decoded and handed over.
 */
const MS_PER_BYTE = 1 / 10_000
/** What each answer takes of it besides: to be held, handed over, and to have its row found and written again. */
const MS_PER_ANSWER = 1 / 20
/** From the first answer to its count: others that come meanwhile are counted with it. */
const INTERVAL_MS = 250
/** Longer texts are not counted: each would take up the share of half a minute. */
const MAX_BYTES = 2 * 1_024 * 1_024
/**
 * Answers held until they are counted: of those that something was left out of, and of all others. No more than is
 * counted in a few seconds: what is held grows old, and V8 collects all that is old the sooner, the more bytes it is.
 */
const MAX_WAITING = { maxAnswers: 500, maxBytes: 512 * 1_024 }

export type CallLedgerOptions = {
  count: Pick<Job<AnswerTokensJob, AnswerTokens>, 'run'>
  recorder: Pick<Recorder, 'recordTokens'>
  onInternalError: (error: unknown) => void
  timeShare?: TimeShareLimits
}

/** Since the start. Tokens are those of the answers that were counted. */
export type LedgerStats = {
  counted: number
  /** Nobody had the time, or the text was too long. */
  notCounted: number
  /** Those that are being counted among them: together with the two above all that were sent. */
  waiting: number
  tokensBefore: number
  tokensSent: number
}

type Sent = Exclude<ToolResult | PassedAnswer, { refused: unknown }>

const OWNER = 'ledger'
const NOTHING: ToolResult = { content: [] }

/** What is counted of what was sent: no image, which would be held for nothing, as would be all that was counted before. */
const toCount = (sent: Sent, { sent: counted }: CallAccount): Sent => {
  if (counted !== undefined) return NOTHING
  if (isLongText(sent)) return sent
  if (!isPassed(sent)) {
    if (sent.content.every(({ type }) => type === 'text')) return sent
    return { ...sent, content: sent.content.filter(({ type }) => type === 'text') }
  }
  const { content, structuredContent } = sent.passed
  const blocks = Array.isArray(content) ? content : []
  if (sent.json !== undefined && blocks.every(isTextBlock)) return sent
  return {
    passed: { content: blocks.filter(isTextBlock), ...(structuredContent !== undefined && { structuredContent }) },
  }
}

const isTextBlock = (block: JsonValue): boolean => listTexts([block]).length > 0

/** A text in place of bytes: those of an answer grow old with whatever was received with them. */
const toHeld = (sent: Sent): Sent =>
  isLongText(sent) ? { content: [{ type: 'text', text: sent.utf8.toString() }] } : sent

/** The same of what the answer was before: what makes its text holds all that was received. */
const toHeldAccount = (account: CallAccount): CallAccount =>
  typeof account.whole === 'function' ? { ...account, whole: account.whole() } : account

/** Bytes, roughly: exactly where it is cheap. */
const bytesOf = (sent: Sent): number => {
  if (isLongText(sent)) return sent.utf8.length
  if (isPassed(sent)) return sent.json?.length ?? readTexts(sent).reduce((sum, text) => sum + text.length, 0)
  return sent.content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0)
}

const isMade = ({ whole, sent }: CallAccount): boolean => whole !== undefined || sent !== undefined

/** What is to be counted of one answer; `whole` is undefined where it is the same as what was sent, or unknown. */
type Task = { account: CallAccount; sent: Measure; whole: Measure | undefined }

const toTask = ({ account, sent }: WaitingAnswer): Task => {
  const { whole } = account
  return {
    account,
    sent: account.sent ?? { tokens: 0, texts: readTexts(sent) },
    whole: (typeof whole === 'function' ? whole() : whole) ?? undefined,
  }
}

/**
 * Counts what answers cost, after they are sent and off the event loop, as far as its share of a core's time allows.
 * First those that something was left out of; what waits in vain is not counted, and no sum claims that it was.
 */
export const createCallLedger = ({ count, recorder, onInternalError, timeShare = TIME_SHARE }: CallLedgerOptions) => {
  const share = createTimeShare(timeShare)
  const saving = createWaitingAnswers(MAX_WAITING)
  const plain = createWaitingAnswers(MAX_WAITING)
  const totals = { counted: 0, notCounted: 0, tokensBefore: 0, tokensSent: 0 }
  const tools = createToolTotals()
  let underWay = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isClosed = false

  const report = ({ executionId, tool, whole, isCutBefore }: CallAccount, sent: number, before: number): void => {
    const otherwise = isCutBefore === true ? 0 : before
    const counted: ExecutionTokens = { executionId, before: whole === null ? undefined : before, sent, otherwise }
    recorder.recordTokens(counted)
    totals.counted++
    totals.tokensBefore += otherwise
    totals.tokensSent += sent
    if (tool !== undefined) tools.add(tool, otherwise, sent)
  }

  const countSome = async (queue: typeof plain): Promise<void> => {
    // No more than the share that is left: what is put back would have been handed over for nothing.
    const answers = queue.take(Math.min(JOB_BYTES, share.leftMs() / MS_PER_BYTE))
    underWay = answers.length
    const tasks = answers.map(toTask)
    const texts = tasks.flatMap(({ sent, whole }) => [sent.texts, whole?.texts ?? []])
    const job = { answers: texts, timeMs: Math.min(share.leftMs(), MAX_JOB_MS) }
    const counted = await count.run(OWNER, job)
    const done = counted.ok ? counted.value : undefined
    underWay = 0
    if (done === undefined) {
      share.spend(FAILED_JOB_MS)
      totals.notCounted += tasks.length
      return
    }
    const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0)
    const costMs = Math.min(Math.max(done.tookMs, bytes * MS_PER_BYTE), MAX_COST_MS)
    share.spend(costMs + answers.length * MS_PER_ANSWER)
    for (const [index, { account, sent, whole }] of tasks.entries()) {
      const [ofSent, ofWhole] = [done.tokens[2 * index], done.tokens[2 * index + 1]]
      if (ofSent === undefined || ofWhole === undefined) {
        queue.putBack(answers.slice(index))
        return
      }
      const tokens = sent.tokens + ofSent
      report(account, tokens, whole === undefined ? tokens : whole.tokens + ofWhole)
    }
  }

  const isWaiting = (): boolean => saving.size() + plain.size() > 0

  const countAll = async (): Promise<void> => {
    while (!isClosed && isWaiting() && share.leftMs() > 0) {
      await countSome(saving.size() > 0 ? saving : plain)
    }
  }

  const run = (): void => {
    timer = undefined
    running = countAll()
      .catch(error => {
        totals.notCounted += underWay
        underWay = 0
        onInternalError(error)
      })
      .finally(() => {
        running = undefined
        if (isWaiting()) arm()
      })
  }
  const arm = (): void => {
    if (isClosed || timer !== undefined || running !== undefined) return
    timer = setTimeout(run, INTERVAL_MS).unref()
  }

  return {
    /** Is told of every answer as it is sent: one that was recorded waits to be counted, where there is room. */
    note: ({ account, signal }: SentCall, sent: ToolResult | PassedAnswer): void => {
      if (account === undefined || isRefused(sent) || signal.aborted) return
      const waiting = isMade(account) ? saving : plain
      const counted = toCount(sent, account)
      const bytes = bytesOf(counted) + (account.bytes ?? 0)
      if (bytes > MAX_BYTES || !waiting.hasRoom(bytes)) {
        totals.notCounted++
        return
      }
      waiting.push({ account: toHeldAccount(account), sent: toHeld(counted), bytes })
      arm()
    },
    stats: (): LedgerStats => ({ ...totals, waiting: saving.size() + plain.size() + underWay }),
    /** The same by tool, of as many tools as are told apart, and of all others together. */
    listTools: tools.list,
    listServers: tools.listServers,
    forgetServer: tools.forgetServer,
    /** What waits still is not counted; a job under way is waited for, or ended by whoever closes the work. */
    close: async (): Promise<void> => {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}

export type CallLedger = ReturnType<typeof createCallLedger>
