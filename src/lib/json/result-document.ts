import type { JsonValue } from '../kernel/json.ts'
import type { Result } from '../kernel/result.ts'

/**
 * A way to read a result: filter, search or explore. Pure and synchronous; runs in a worker. A step may cache expensive
 * parts, such as an index, in a WeakMap by document, because the same result and steps give the same document again.
 */
export type PipelineStep<Params> = {
  /** Name of the step in errors and notes. */
  name: string
  /** Whether the parameters request this step. If not, the step is skipped. */
  isRequested: (params: Params) => boolean
  /**
   * Returns a new document for the next step, and notes for the model. The error is a sentence that says what is wrong
   * with the parameters and what to send instead.
   */
  apply: (document: ResultDocument, params: Params) => Result<StepOutput, string>
}

/**
 * A parsed result: JSON as one value (NDJSON lines and CSV rows become the items of an array), other text unchanged,
 * and only the type and size of binary content.
 */
export type ResultDocument =
  | { kind: 'json'; value: JsonValue; format: 'json' | 'ndjson' | 'csv' }
  | { kind: 'text'; text: string; format: 'text' | 'html' | 'xml' }
  | { kind: 'binary'; mediaType: string; bytes: number }
export type JsonDocument = Extract<ResultDocument, { kind: 'json' }>
export type TextDocument = Extract<ResultDocument, { kind: 'text' }>

/** The output of a step, which becomes the input of the next step. */
export type StepOutput = {
  document: ResultDocument
  /** Sentences for the model, for example about a path that matches nothing. */
  notes: readonly string[]
  page?: PageInfo | undefined
}

export type PageInfo = {
  note: string
  describe: (shown: number) => string
  /** Returns how many of the page's items, or how many complete lines, are in the given beginning of the document. */
  countIn: (beginning: ResultDocument) => number
}
