import type { ResultShaping } from '../../tools/response/result-shaping.ts'

/** The texts of one answer that are to be shaped, and how. */
export type ShapingJob = {
  /** Each is shaped by itself. Of several those that are no JSON are none of a transform's business. */
  texts: readonly string[]
  /** Whether they are pages; undefined where nobody has said. Of all but pages it is found out whether they are JSON. */
  isHtml: boolean | undefined
  /** Their media type, where somebody has said it: lines of JSON and tables are known by it, or by how they look. */
  type?: string | undefined
  shaping: ResultShaping
  /** Whether lists of like objects are written as tables where that is shorter. */
  compactTables: boolean
  /** Whether it is checked against a schema afterwards: then numbers stay numbers, and strings JSON. */
  isStructured: boolean
  /** Of all that is made of them, as UTF-8. */
  maxBytes: number
  /** Whether the tokens before and after are counted. */
  isCounted: boolean
}

export type Shaped = {
  /** Each text as UTF-8. */
  utf8s: readonly Uint8Array<ArrayBuffer>[]
  /** Of all of them; undefined where they were not to be counted, or there are too many to be counted at once. */
  tokens: { before: number | undefined; after: number | undefined }
}

/** What came of a job: the texts anew, nothing that differs, or why there is none, in a sentence. */
export type ShapingOutcome =
  | ({ kind: 'shaped' } & Shaped)
  | { kind: 'unchanged'; tokens: Shaped['tokens'] }
  | { kind: 'failed'; message: string }
