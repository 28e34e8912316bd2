export type NamedTool = { serverId: string; name: string }

/**
 * Maximum number of characters whose tokens are counted, which takes at most a millisecond. The rest of a longer result
 * is estimated.
 */
export const MAX_COUNTED_CHARACTERS = 8 * 1_024

/**
 * Text for a model: the tokens counted so far and the texts not yet counted. If `scale` is set, `texts` are a sample,
 * and the whole text is `scale` times as long. `isEstimated` means that `tokens` is an estimate.
 */
export type Measure = { tokens: number; texts: readonly string[]; scale?: number; isEstimated?: boolean }

/** What the ledger needs, besides the sent result, to count a call's tokens. */
export type CallCost = {
  executionId: string
  /** Undefined if the caller may have invented the name. Such calls are not counted for any tool. */
  tool?: NamedTool | undefined
  /**
   * The result before anything was left out, or a function that computes it if the result is sent. Undefined if nothing
   * was left out. Null if unknown, so that no savings are counted.
   */
  whole?: Measure | (() => Measure | undefined) | null | undefined
  /** Resolves to the exact `tokens` of `whole`, if these are an estimate and are counted later. */
  exactTokens?: Promise<number | undefined> | undefined
  /** The part that was sent, if its tokens have already been counted. */
  sent?: Measure | undefined
  /** Whether the response does not match the tool's output schema. */
  isMismatch?: boolean | undefined
  /** Receives the tokens that were sent, if a limit counts them. */
  countTokens?: ((tokens: number) => void) | undefined
  /** Whether this result continues a cut result whose savings have already been counted. */
  isCutBefore?: boolean | undefined
}

/** A shortened result, both whole and as sent. */
export type Shortened = {
  whole: Measure | null
  exactTokens?: Promise<number | undefined> | undefined
  sent: Measure | undefined
}

/** Adds what was left out of a result. Keeps an existing `whole`, which is more accurate. */
export const withShortened = <Cost extends CallCost | undefined>(
  cost: Cost,
  { sent, ...shortened }: Shortened,
): Cost => (cost === undefined ? cost : { ...cost, ...(cost.whole === undefined && shortened), sent })
