import type { ResultShaping } from '../../tools/response/result-shaping.ts'

/** The texts of one result, and how to shape them. */
export type ShapingJob = {
  /** Texts that are shaped separately. If only some of them are JSON, a transform applies only to those. */
  texts: readonly string[]
  /** Whether the texts are HTML, or undefined if not declared. Texts that are not declared as HTML may be JSON. */
  isHtml: boolean | undefined
  /**
   * The declared media type of the texts, if any. JSON Lines and tables are recognized by their media type or by how
   * they begin.
   */
  type?: string | undefined
  shaping: ResultShaping
  /** Whether lists of objects with the same members become tables if that makes them shorter. */
  compactTables: boolean
  /** Whether the result is checked against a schema afterwards. If so, numbers stay numbers, and strings stay JSON. */
  isStructured: boolean
  /** Maximum total size of the shaped texts in UTF-8, in bytes. */
  maxBytes: number
  /** Whether to count the tokens before and after shaping. */
  isCounted: boolean
}

export type Shaped = {
  /** The shaped texts, encoded as UTF-8. */
  utf8s: readonly Uint8Array<ArrayBuffer>[]
  /** Total tokens of all texts. Undefined if not requested or if the texts are too long to count. */
  tokens: { before: number | undefined; after: number | undefined }
}

/** The outcome of a job. `message` is a sentence that explains why the job failed. */
export type ShapingOutcome =
  | ({ kind: 'shaped' } & Shaped)
  | { kind: 'unchanged'; tokens: Shaped['tokens'] }
  | { kind: 'failed'; message: string }
