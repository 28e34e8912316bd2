import type { PipelineSteps } from '../../lib/json/pipeline.ts'

/** A job for a worker: to inspect one result. */
export type InspectionJob = {
  /** Undefined if the worker may have cached the parsed result under `key`. */
  bytes: Uint8Array | undefined
  /** The Content-Type. If empty, the format is guessed from the beginning. */
  mediaType: string
  /**
   * Identifies exactly these bytes, such as a cache id, so that the next inspection need not parse them again.
   * Undefined: the parsed result is not cached.
   */
  key: string | undefined
  /** Steps to run, in the order filter, search, explore. Without any, the beginning is shown. */
  steps: PipelineSteps
  /** Maximum tokens to send, including notes; 0 for no limit. */
  budgetTokens: number
  /** Tokens of the whole result, if already counted. */
  tokensBefore: number | undefined
  /** Whether to return also everything that the steps found, as `whole`. */
  keepsWhole: boolean
}

/** The format of a result, before or after the steps. */
export type ResultFormat = 'json' | 'ndjson' | 'csv' | 'text' | 'html' | 'xml' | 'binary'

/** The part of a result that a model receives after the steps: text, outline and notes, in this order. */
export type InspectionView = {
  /** What the steps found, cut to the budget; valid JSON if the format is JSON. Empty if every step failed. */
  text: string
  /** Lines that describe what the text leaves out; empty if nothing. */
  outline: string
  /** Sentences about the result: what is odd in it, what a path did not match, which page this is. */
  notes: readonly string[]
  /** A sentence for each step that failed. The other steps still apply. */
  errors: readonly { step: string; message: string }[]
  format: ResultFormat
  isCut: boolean
  /** Size of the original result. */
  bytes: number
  /** Tokens of the original result; for binary content, of the sentence that describes it. */
  tokensBefore: number
  /** Tokens of everything that the steps found, before the cut. Same as `tokensBefore` if there were no steps. */
  tokensAfter: number
  /** Tokens of what is sent: text, outline, notes and errors. */
  tokensShown: number
  /** Everything that the steps found, if `keepsWhole`, so that it can be cached for later calls. */
  whole: { utf8: Uint8Array; mediaType: string } | undefined
}
