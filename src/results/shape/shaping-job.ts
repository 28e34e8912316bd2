import type { ResultShaping } from '../../tools/response/result-shaping.ts'

/** The texts of one result, and how to shape them. */
export type ShapingJob = {
  /** Each text is shaped separately. If only some are JSON, a transform applies to those. */
  texts: readonly string[]
  /** Whether the texts are HTML; undefined if not declared. Texts that are not declared as HTML may be JSON. */
  isHtml: boolean | undefined
  /** Their media type, if declared. JSON lines and tables are recognized by it, or by their beginning. */
  type?: string | undefined
  shaping: ResultShaping
  /** Whether lists of objects with the same members become tables where that is shorter. */
  compactTables: boolean
  /** Whether the result is checked against a schema afterwards. Then numbers stay numbers, and strings stay JSON. */
  isStructured: boolean
  /** Maximum size of the shaped texts together, in UTF-8. */
  maxBytes: number
  /** Whether to count the tokens before and after. */
  isCounted: boolean
}

export type Shaped = {
  /** Each text as UTF-8. */
  utf8s: readonly Uint8Array<ArrayBuffer>[]
  /** Tokens of all texts together; undefined if not requested, or if the texts are too long to count. */
  tokens: { before: number | undefined; after: number | undefined }
}

/** The outcome of a job. `message` is a sentence that says why it failed. */
export type ShapingOutcome =
  | ({ kind: 'shaped' } & Shaped)
  | { kind: 'unchanged'; tokens: Shaped['tokens'] }
  | { kind: 'failed'; message: string }
