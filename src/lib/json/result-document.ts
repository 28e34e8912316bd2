import type { JsonValue } from '../kernel/json.ts'

/**
 * An answer as the model may look into it: JSON as one value (the lines of NDJSON and the rows of CSV are the items of
 * an array), any other text as it is, and of everything else no more than what it is.
 */
export type ResultDocument =
  | { kind: 'json'; value: JsonValue; format: 'json' | 'ndjson' | 'csv' }
  | { kind: 'text'; text: string; format: 'text' | 'html' | 'xml' }
  | { kind: 'binary'; mediaType: string; bytes: number }

/** What a processor made of an answer: the next one goes on from it. */
export type StepOutput = {
  document: ResultDocument
  /** What a model should know besides, each in a sentence: what a path did not match, what was left out. */
  notes: readonly string[]
  /** Of a document that is one page of a list, or of a text's lines. */
  page?: PageInfo | undefined
}

/** One page, of which less may be sent than it holds. */
export type PageInfo = {
  /** What the notes say of it, as if all of it were sent. */
  note: string
  /** The same for so many of its items, the first ones. */
  describe: (shown: number) => string
  /** How many of its items, or whole lines, a beginning of the document holds. */
  countIn: (beginning: ResultDocument) => number
}
