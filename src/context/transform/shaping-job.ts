import type { AnswerShaping } from './answer-shaping.ts'

/** A text that is to be shaped, and how. */
export type ShapingJob = {
  text: string
  /** Whether it is a page; of any other text it is found out whether it is JSON. */
  isHtml: boolean
  shaping: AnswerShaping
  /** Whether lists of like objects are written as tables where that is shorter. */
  compactTables: boolean
  /** Whether it is checked against a schema afterwards: then numbers stay numbers, and strings JSON. */
  isStructured: boolean
  /** Of what is made of it, as UTF-8. */
  maxBytes: number
  /** Whether the tokens before and after are counted. */
  isCounted: boolean
}

export type Shaped = {
  /** The text as UTF-8. */
  utf8: Uint8Array<ArrayBuffer>
  /** Undefined where they were not to be counted, or there are too many to be counted at once. */
  tokens: { before: number | undefined; after: number | undefined }
}

/** What came of a job: the text anew, nothing that differs, or why there is none, in a sentence. */
export type ShapingOutcome =
  | ({ kind: 'shaped' } & Shaped)
  | { kind: 'unchanged'; tokens: Shaped['tokens'] }
  | { kind: 'failed'; message: string }
