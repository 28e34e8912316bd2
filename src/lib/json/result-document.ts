import type { JsonValue } from '../kernel/json.ts'

/**
 * A parsed result: JSON as one value (the lines of NDJSON and the rows of CSV are items of an array), other text
 * unchanged, and of binary content only its type and size.
 */
export type ResultDocument =
  | { kind: 'json'; value: JsonValue; format: 'json' | 'ndjson' | 'csv' }
  | { kind: 'text'; text: string; format: 'text' | 'html' | 'xml' }
  | { kind: 'binary'; mediaType: string; bytes: number }

/** What a step made of a document; the input of the next step. */
export type StepOutput = {
  document: ResultDocument
  /** Sentences for the model: what a path did not match, what was left out. */
  notes: readonly string[]
  /** Set if the document is one page of a list or of a text's lines. */
  page?: PageInfo | undefined
}

/** A page, which may be sent in part. */
export type PageInfo = {
  /** The note about it if all of it is sent. */
  note: string
  /** Returns the note for the first `shown` items. */
  describe: (shown: number) => string
  /** Returns how many of its items, or whole lines, a beginning of the document contains. */
  countIn: (beginning: ResultDocument) => number
}
