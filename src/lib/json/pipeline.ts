import { LRUCache } from 'lru-cache'
import type { Result } from '../kernel/result.ts'
import type { SearchParams } from '../search/query.ts'
import { createSearch } from '../search/search.ts'
import { type ExploreParams, explore } from './explore.ts'
import { type FilterParams, filter } from './filter.ts'
import type { PageInfo, PipelineStep, ResultDocument, StepOutput } from './result-document.ts'

/** The parameters of each step, in the order in which the steps run. Each step gets the output of the previous step. */
export type PipelineSteps = {
  filter?: FilterParams
  search?: SearchParams
  explore?: ExploreParams
}

export type PipelineOutcome = {
  document: ResultDocument
  notes: readonly string[]
  page: PageInfo | undefined
  errors: readonly { step: string; message: string }[]
  /** Number of steps that ran, including failed ones. */
  stepsRun: number
}

/** Maximum cached outcomes per document. A model often requests the next page or searches the same part again. */
const MAX_CACHED = 8

type Outcome = Result<StepOutput, string>

/**
 * Runs the requested steps in order. If a step fails, its error is reported and the next step gets the last successful
 * output. Caches each step's output for the lifetime of the input document, so that search indexes built on it can be
 * reused.
 */
export const createPipeline = () => {
  const search = createSearch()
  const cached = new WeakMap<ResultDocument, LRUCache<string, Outcome>>()

  const run = <Params>(step: PipelineStep<Params>, document: ResultDocument, params: Params): Outcome => {
    const outcomes = cached.get(document) ?? new LRUCache<string, Outcome>({ max: MAX_CACHED })
    cached.set(document, outcomes)
    const key = `${step.name} ${JSON.stringify(params)}`
    const known = outcomes.get(key)
    if (known !== undefined) return known
    const outcome = step.apply(document, params)
    outcomes.set(key, outcome)
    return outcome
  }

  return (document: ResultDocument, steps: PipelineSteps): PipelineOutcome => {
    let outcome: PipelineOutcome = { document, notes: [], page: undefined, errors: [], stepsRun: 0 }
    const runIfRequested = <Params>(step: PipelineStep<Params>, params: Params | undefined): void => {
      if (params === undefined || !step.isRequested(params)) return
      const made = run(step, outcome.document, params)
      const stepsRun = outcome.stepsRun + 1
      if (made.ok) {
        const { document, notes, page } = made.value
        outcome = { ...outcome, document, notes: [...outcome.notes, ...notes], page, stepsRun }
      } else outcome = { ...outcome, errors: [...outcome.errors, { step: step.name, message: made.error }], stepsRun }
    }
    runIfRequested(filter, steps.filter)
    runIfRequested(search, steps.search)
    runIfRequested(explore, steps.explore)
    return outcome
  }
}
