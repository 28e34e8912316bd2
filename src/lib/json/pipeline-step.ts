import type { Result } from '../kernel/result.ts'
import type { ResultDocument, StepOutput } from './result-document.ts'

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
