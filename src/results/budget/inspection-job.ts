import type { PipelineSteps } from '../../lib/json/pipeline.ts'

/** A worker job that inspects one result. */
export type InspectionJob = {
  /** The bytes of the result. Undefined if the worker may have cached the parsed result under `key`. */
  bytes: Uint8Array | undefined
  /** The Content-Type. If empty, the format is guessed from the beginning of the content. */
  mediaType: string
  /**
   * Identifies exactly these bytes, for example by a cache id, so that the next inspection can reuse the parsed result.
   * If undefined, the parsed result is not cached.
   */
  key: string | undefined
  /** Steps to run, in the order filter, search, explore. If there are none, the beginning of the result is shown. */
  steps: PipelineSteps
  /** Maximum tokens to send, including notes; 0 for no limit. */
  budgetTokens: number
  /** Tokens of the whole result, if already counted or estimated. */
  tokensBefore: number | undefined
  isBeforeEstimated: boolean
  /** Whether to also return the uncut output of the steps, as `whole`. */
  keepsWhole: boolean
}

/** The format of a result, before or after the steps. */
export type ResultFormat = 'json' | 'ndjson' | 'csv' | 'text' | 'html' | 'xml' | 'binary'

/** The part of a result that a model receives after the steps: text, outline and notes, in this order. */
export type InspectionView = {
  /** The output of the steps, cut to the budget; valid JSON if the format is JSON. Empty if every step failed. */
  text: string
  /** Lines that describe the parts left out of the text; empty if there are none. */
  outline: string
  /** Sentences about the result: oddities, paths without a match, the page shown. */
  notes: readonly string[]
  /** A sentence for each step that failed. The other steps are still applied. */
  errors: readonly { step: string; message: string }[]
  format: ResultFormat
  isCut: boolean
  /** Size of the original result. */
  bytes: number
  /** Tokens of the original result; for binary content, of the sentence that describes it. */
  tokensBefore: number
  isBeforeEstimated: boolean
  /** Tokens of the uncut output of the steps. Equals `tokensBefore` if there were no steps. */
  tokensAfter: number
  isAfterEstimated: boolean
  /** Tokens sent: text, outline, notes and errors. */
  tokensShown: number
  /** The uncut output of the steps, to be cached for later calls. Set only if `keepsWhole` is true. */
  whole: { utf8: Uint8Array; mediaType: string } | undefined
}
