import type { Result } from '../kernel/result.ts'
import type { SearchParams } from '../search/params.ts'
import { createSearch } from '../search/search.ts'
import { type ExploreParams, explore } from './explore.ts'
import { type FilterParams, filter } from './filter.ts'
import type { PipelineStep } from './pipeline-step.ts'
import type { PageInfo, ResultDocument, StepOutput } from './result-document.ts'

/** The parameters of each step, in the order in which they are taken: the next one goes on from what one has found. */
export type PipelineSteps = {
  filter?: FilterParams
  search?: SearchParams
  explore?: ExploreParams
}

/** What the steps made of an answer. */
export type PipelineOutcome = {
  document: ResultDocument
  notes: readonly string[]
  /** What the last step made, where that is one page. */
  page: PageInfo | undefined
  errors: readonly { step: string; message: string }[]
  /** How many steps had something to do. */
  wanted: number
}

/** Outcomes held for one document: a model asks for the next page, or searches again in the same part. */
const MAX_HELD = 8

type Outcome = Result<StepOutput, string>

/**
 * Runs the steps whose parameters are there, in order. One that fails reports its error, and the next goes on from what
 * the one before had made. Outcomes are held as long as their document is, so that indices made of them serve again.
 */
export const createPipeline = () => {
  const search = createSearch()
  const held = new WeakMap<ResultDocument, Map<string, Outcome>>()

  const run = <Params>(processor: PipelineStep<Params>, document: ResultDocument, params: Params): Outcome => {
    const outcomes = held.get(document) ?? new Map<string, Outcome>()
    held.set(document, outcomes)
    const key = `${processor.name} ${JSON.stringify(params)}`
    const known = outcomes.get(key)
    if (known !== undefined) return known
    const outcome = processor.apply(document, params)
    for (const oldest of outcomes.keys()) {
      if (outcomes.size < MAX_HELD) break
      outcomes.delete(oldest)
    }
    outcomes.set(key, outcome)
    return outcome
  }

  return (document: ResultDocument, steps: PipelineSteps): PipelineOutcome => {
    let outcome: PipelineOutcome = { document, notes: [], page: undefined, errors: [], wanted: 0 }
    const take = <Params>(processor: PipelineStep<Params>, params: Params | undefined): void => {
      if (params === undefined || !processor.isWanted(params)) return
      const made = run(processor, outcome.document, params)
      const wanted = outcome.wanted + 1
      if (made.ok) {
        const { document, notes, page } = made.value
        outcome = { ...outcome, document, notes: [...outcome.notes, ...notes], page, wanted }
      } else
        outcome = { ...outcome, errors: [...outcome.errors, { step: processor.name, message: made.error }], wanted }
    }
    take(filter, steps.filter)
    take(search, steps.search)
    take(explore, steps.explore)
    return outcome
  }
}
