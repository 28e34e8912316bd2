export type NamedTool = { serverId: string; name: string }

/** Longer results are counted up to this length, which takes a millisecond at most, and estimated from there. */
export const MAX_COUNTED_CHARACTERS = 8 * 1_024

/** What a model reads: tokens counted so far, and texts not yet counted. The texts are a part of `scale` times as much. */
export type Measure = { tokens: number; texts: readonly string[]; scale?: number }

/** What the ledger needs to know to count the tokens of a call, besides the result that was sent. */
export type CallCost = {
  executionId: string
  /** Undefined if the caller may have invented the name; such calls count for no tool. */
  tool?: NamedTool | undefined
  /**
   * The result before anything was left out. A function computes it if the result is sent. Undefined: the same as what
   * was sent. Null: unknown, so that no saving is claimed.
   */
  whole?: Measure | (() => Measure | undefined) | null | undefined
  /** What was sent, if it has been counted already. */
  sent?: Measure | undefined
  /** Whether the result was cut before, so that the saving has been counted already. */
  isCutBefore?: boolean | undefined
}

/** A shortened result: the whole, and the part that was sent. */
export type Shortened = { whole: Measure | null; sent: Measure | undefined }

/** Records what was left out of a result. An earlier `whole` is more accurate and is kept. */
export const withShortened = <Cost extends CallCost | undefined>(cost: Cost, { whole, sent }: Shortened): Cost =>
  cost === undefined ? cost : { ...cost, whole: cost.whole === undefined ? whole : cost.whole, sent }
