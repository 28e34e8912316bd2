import type { Result } from '../kernel/result.ts'
import type { ResultDocument, StepOutput } from './result-document.ts'

/**
 * One way of looking into an answer: filter, search, explore. Pure and synchronous; it runs in a worker.
 *
 * What is costly to make of a document (an index, its records) may be kept by the document itself, in a WeakMap inside
 * the closure that makes the processor: a later task on the same answer, after the same steps, gets the same document.
 */
export type PipelineStep<Params> = {
  /** As an error and a note name it. */
  name: string
  /** Whether there is anything to do with these parameters; without them it is skipped. */
  isWanted: (params: Params) => boolean
  /**
   * Never changes the document. What was found is a document too, so that the next one goes on from it; what a model
   * should know besides stands in the notes. The error is a sentence that tells a model what is wrong with its
   * parameters and what to send instead: the document then stays as it was for those that follow.
   */
  apply: (document: ResultDocument, params: Params) => Result<StepOutput, string>
}
