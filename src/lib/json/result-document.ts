import type { JsonValue } from '../kernel/json.ts'
import type { Result } from '../kernel/result.ts'

/**
 * A way to read from a result: filter, search, explore. Pure and synchronous; runs in a worker. A step may cache costly
 * parts, such as an index, in a WeakMap by document: the same result and steps give the same document again.
 */
export type PipelineStep<Params> = {
  /** Names the step in errors and notes. */
  name: string
  /** Whether these parameters ask for anything; if not, the step is skipped. */
  isRequested: (params: Params) => boolean
  /**
   * Returns a new document for the next step, and notes for the model. The error is a sentence that says what is wrong
   * with the parameters and what to send instead.
   */
  apply: (document: ResultDocument, params: Params) => Result<StepOutput, string>
}

/**
 * A parsed result: JSON as one value (the lines of NDJSON and the rows of CSV are items of an array), other text
 * unchanged, and of binary content only its type and size.
 */
export type ResultDocument =
  | { kind: 'json'; value: JsonValue; format: 'json' | 'ndjson' | 'csv' }
  | { kind: 'text'; text: string; format: 'text' | 'html' | 'xml' }
  | { kind: 'binary'; mediaType: string; bytes: number }
export type JsonDocument = Extract<ResultDocument, { kind: 'json' }>
export type TextDocument = Extract<ResultDocument, { kind: 'text' }>

/** What a step made of a document; the input of the next step. */
export type StepOutput = {
  document: ResultDocument
  /** Sentences for the model: what a path did not match, what was left out. */
  notes: readonly string[]
  page?: PageInfo | undefined
}

export type PageInfo = {
  note: string
  describe: (shown: number) => string
  /** Returns how many of its items, or whole lines, a beginning of the document contains. */
  countIn: (beginning: ResultDocument) => number
}
