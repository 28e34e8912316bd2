import type { NamedTool } from './ledger/tool-totals.ts'

/** What a model reads: tokens that are counted already, and texts that are not. */
export type Measure = { tokens: number; texts: readonly string[] }

/** What the ledger is told of a call besides what was sent, as far as those who answer it know. */
export type CallAccount = {
  /** Of the execution in history. */
  executionId: string
  /** Whose answer it is; undefined where the caller may have made the name up, which is in no sum. */
  tool?: NamedTool | undefined
  /**
   * The answer before anything was left out of it; a function makes it, if it is to be counted. Undefined: it is what was
   * sent. Null: nobody knows, so that nothing was saved for sure.
   */
  whole?: Measure | (() => Measure | undefined) | null | undefined
  /** What was sent, where that is counted already. */
  sent?: Measure | undefined
  /** Whether the answer was cut before, so that what is left out of it has been counted as saved. */
  isCutBefore?: boolean | undefined
  /** Bytes of what `whole` makes. */
  bytes?: number | undefined
}

/** An answer from which something was left out, and what was sent of it. Who has shaped it before knows the whole better. */
export type Shortened = { whole: Measure | null; sent: Measure | undefined }

export const noteShortened = (account: CallAccount | undefined, { whole, sent }: Shortened): void => {
  if (account === undefined) return
  if (account.whole === undefined) account.whole = whole
  account.sent = sent
}
