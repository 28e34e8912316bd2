export type NamedTool = { serverId: string; name: string }

/**
 * Maximum number of characters that are counted, which takes a millisecond at most. The rest of a
 * longer result is estimated.
 */
export const MAX_COUNTED_CHARACTERS = 8 * 1_024

/**
 * A text for a model: tokens counted so far, and texts not counted yet. If `scale` is given,
 * `texts` are a sample and the whole is `scale` times as long.
 */
export type Measure = { tokens: number; texts: readonly string[]; scale?: number }

/** Data for counting the tokens of a call in the ledger, besides the result that was sent. */
export type CallCost = {
  executionId: string
  /** Undefined if the caller may have invented the name. Such calls are not counted for any tool. */
  tool?: NamedTool | undefined
  /**
   * The result before anything was left out, or a function that computes it if the result is sent.
   * Undefined if it is what was sent. Null if it is unknown, so that no saving is counted.
   */
  whole?: Measure | (() => Measure | undefined) | null | undefined
  /** The part that was sent, if it has been counted already. */
  sent?: Measure | undefined
  /** Whether the result continues a cut result, whose saving has been counted already. */
  isCutBefore?: boolean | undefined
}

/** A shortened result, as a whole and as sent. */
export type Shortened = { whole: Measure | null; sent: Measure | undefined }

/** Adds what was left out of a result. Keeps an earlier `whole`, which is more accurate. */
export const withShortened = <Cost extends CallCost | undefined>(cost: Cost, { whole, sent }: Shortened): Cost =>
  cost === undefined ? cost : { ...cost, whole: cost.whole === undefined ? whole : cost.whole, sent }
