export type NamedTool = { serverId: string; name: string }

/** What a model reads: tokens counted so far, and texts not yet counted. */
export type Measure = { tokens: number; texts: readonly string[] }

/** What the ledger needs to know about a call, besides the result that was sent. */
export type CallAccount = {
  executionId: string
  /** Undefined if the caller may have invented the name; such calls count for no tool. */
  tool?: NamedTool | undefined
  /**
   * The result before anything was left out. A function computes it only if it is counted. Undefined: the same as what
   * was sent. Null: unknown, so that no saving is claimed.
   */
  whole?: Measure | (() => Measure | undefined) | null | undefined
  /** What was sent, if it has been counted already. */
  sent?: Measure | undefined
  /** Whether the result was cut before, so that the saving has been counted already. */
  isCutBefore?: boolean | undefined
  /** Size in bytes of what `whole` returns. */
  bytes?: number | undefined
}

/** A shortened result: the whole, and the part that was sent. */
export type Shortened = { whole: Measure | null; sent: Measure | undefined }

/** Adds what was left out of a result. A `whole` that is there already is the more accurate one. */
export const withShortened = <Account extends CallAccount | undefined>(
  account: Account,
  { whole, sent }: Shortened,
): Account =>
  account === undefined ? account : { ...account, whole: account.whole === undefined ? whole : account.whole, sent }
