/** A found tool with its score and the words of its name. */
export type Candidate = { tool: number; score: number; called: ReadonlySet<string> }

/** Number of best tools considered, whatever the limit, so that the first results do not depend on it. */
export const CANDIDATES = 30
/** Share of common words from which two tools count as variants of one, such as for users and for teams. */
const ALIKE = 0.6
/** Factor on the score for each similar tool ranked before. */
const REPEATED = 0.9

const shareOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  let common = 0
  for (const word of a) if (b.has(word)) common++
  return common / Math.max(a.size + b.size - common, 1)
}

/**
 * Returns the best tools without letting variants of one fill all places: a query in other words than the tools' own
 * profits from seeing several kinds. `ranked`: best first.
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
