/** Whether this run has TEST_REST=1. */
export const isRest = process.env.TEST_REST === '1'

/**
 * Returns the cases of this run: a first selection in `npm test`, and the rest with TEST_REST=1, as in the last stage
 * of `.ci/run`. For tests that repeat the same checks on many cases, where a few cases reveal what a change broke.
 */
export const casesOfRun = <Case>(cases: readonly Case[], isFirst: (one: Case, index: number) => boolean): Case[] =>
  cases.filter((one, index) => isFirst(one, index) !== isRest)

/** Returns how many random inputs a property is checked with: a fifth of `numRuns` in `npm test`, all with TEST_REST=1. */
export const runsOf = (numRuns: number): number => (isRest ? numRuns : Math.ceil(numRuns / 5))
