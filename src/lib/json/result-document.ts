import type { JsonValue } from '../kernel/json.ts'
import type { Result } from '../kernel/result.ts'

/**
 * A way to read a result: filter, search or explore. Pure and synchronous; runs in a worker. A step may cache expensive
 * parts, such as an index, in a WeakMap by document, because the same result and steps give the same document again.
 */
export type PipelineStep<Params> = {
  /** Names the step in errors and notes. */
  name: string
  /** Whether these parameters request the step. If not, it is skipped. */
  isRequested: (params: Params) => boolean
  /**
   * Returns a new document for the next step, and notes for the model. The error is a sentence that says what is wrong
   * with the parameters and what to send instead.
   */
  apply: (document: ResultDocument, params: Params) => Result<StepOutput, string>
}

/**
 * A parsed result: JSON as one value (the lines of NDJSON and the rows of CSV are items of an
 * array), other text unchanged, and only the type and size of binary content.
 */
export type ResultDocument =
  | { kind: 'json'; value: JsonValue; format: 'json' | 'ndjson' | 'csv' }
  | { kind: 'text'; text: string; format: 'text' | 'html' | 'xml' }
  | { kind: 'binary'; mediaType: string; bytes: number }
export type JsonDocument = Extract<ResultDocument, { kind: 'json' }>
export type TextDocument = Extract<ResultDocument, { kind: 'text' }>

/** The output of a step, which is the input of the next one. */
export type StepOutput = {
  document: ResultDocument
  /** Sentences for the model, for example about a path that matches nothing. */
  notes: readonly string[]
  page?: PageInfo | undefined
}

export type PageInfo = {
  note: string
  describe: (shown: number) => string
  /** Returns how many items of the page, or complete lines, a beginning of the document contains. */
  countIn: (beginning: ResultDocument) => number
}
