import type { PipelineSteps } from '../../lib/json/pipeline.ts'
import type { ResultDocument } from '../../lib/json/result-document.ts'

/** What a worker is asked: to look into one answer. */
export type AnswerJob = {
  /** Undefined where the worker may hold the answer by its key already. */
  bytes: Uint8Array | undefined
  mediaType: string
  /** Of an answer that never changes, such as its cache id; undefined: nothing of it is held. */
  key: string | undefined
  steps: PipelineSteps
  /** 0: all is shown. */
  budgetTokens: number
  /** Tokens of the whole answer where they are counted already. */
  tokensBefore: number | undefined
  keepsWhole: boolean
}

/** What an answer is, or what was made of it. */
export type AnswerFormat = 'json' | 'ndjson' | 'csv' | 'text' | 'html' | 'xml' | 'binary'

/** What a model is shown of an answer, after the steps. Text, outline and notes are to be sent, in this order. */
export type AnswerView = {
  /** What the steps have found, cut to the budget; valid JSON where the format is. Empty when every step failed. */
  text: string
  /** What was left out of the text, in lines; empty when nothing was. */
  outline: string
  /** Sentences about the answer: what is odd in it, what a path did not match, which page this is. */
  notes: readonly string[]
  /** Of each step that failed, a sentence; the others' work stands. */
  errors: readonly { step: string; message: string }[]
  format: AnswerFormat
  isCut: boolean
  /** Of the answer as it came. */
  bytes: number
  /** Of the answer as it came; of a binary one, of the sentence that describes it. */
  tokensBefore: number
  /** Of all that the steps have found, before it was cut; as before where no step was wanted. */
  tokensAfter: number
  /** Of text, outline, notes and errors: what is to be sent. */
  tokensShown: number
  /** All that the steps have found, when the job asked for it, to be kept for the next one. */
  whole: { utf8: Uint8Array; mediaType: string } | undefined
}

export const formatOf = (document: ResultDocument): AnswerFormat =>
  document.kind === 'binary' ? 'binary' : document.format
