/** A tool that was found: the words that it is called by, and how well it fits. */
export type Candidate = { tool: number; score: number; called: ReadonlySet<string> }

/** As many of the best are looked at, however few are wanted: so that the first are the same with every limit. */
export const CANDIDATES = 30
/** From as many of their words in common on, two tools do nearly the same: the variants of one for users, teams, … */
const ALIKE = 0.6
/** What is left of a score for each tool before it that does nearly the same. */
const REPEATED = 0.9

const shareOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  let common = 0
  for (const word of a) if (b.has(word)) common++
  return common / Math.max(a.size + b.size - common, 1)
}

/**
 * The best, without the variants of one and the same filling all places: who asks in other words than the tools' own is
 * helped by seeing several kinds. `ranked`: the best first.
 */
export const spreadOut = (ranked: readonly Candidate[], limit: number): number[] => {
  const left = ranked.map(candidate => ({ ...candidate }))
  const chosen: number[] = []
  while (chosen.length < limit) {
    const next = left.reduce<(typeof left)[number] | undefined>(
      (best, one) => (best === undefined || one.score > best.score ? one : best),
      undefined,
    )
    if (next === undefined) break
    chosen.push(next.tool)
    left.splice(left.indexOf(next), 1)
    for (const other of left) if (shareOf(next.called, other.called) >= ALIKE) other.score *= REPEATED
  }
  return chosen
}
