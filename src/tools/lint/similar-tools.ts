import { createPause } from '../../lib/worker/pause.ts'
import type { Finding, ShownTool } from './finding.ts'
import { splitWords } from './split-words.ts'

/** Minimum share of common words, among all words of two tools, at which a model may confuse them. */
const MIN_SIMILARITY = 0.8
/** Maximum number of pairs to compare. Ordinary catalogues need far fewer. */
const MAX_COMPARED = 300_000

export type ToolText = Pick<ShownTool, 'name' | 'description'>

type NormalizedText = {
  name: string
  /** The trimmed description in lower case. */
  description: string
  words: ReadonlySet<string>
}

const normalize = ({ name, description = '' }: ToolText): NormalizedText => ({
  name,
  description: description.trim().toLowerCase(),
  words: new Set([...splitWords(name), ...splitWords(description)]),
})

const isSimilar = (a: NormalizedText, b: NormalizedText): boolean => {
  let shared = 0
  for (const word of a.words) if (b.words.has(word)) shared++
  return shared > 0 && shared >= MIN_SIMILARITY * (a.words.size + b.words.size - shared)
}

const hasSameDescription = (a: NormalizedText, b: NormalizedText): boolean =>
  a.description !== '' && a.description === b.description

type IndexedText = NormalizedText & {
  index: number
  /** The tool's rarest words. Any similar tool shares at least one of them. */
  prefix: readonly string[]
}

const indexAll = (tools: readonly ToolText[]): IndexedText[] => {
  const frequency = new Map<string, number>()
  const all = tools.map(normalize)
  for (const { words } of all) for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1)
  const rarity = (word: string): number => frequency.get(word) ?? 0
  return all.map((tool, index) => {
    const rarest = [...tool.words].sort((a, b) => rarity(a) - rarity(b) || (a < b ? -1 : 1))
    return { ...tool, index, prefix: rarest.slice(0, rarest.length - Math.ceil(MIN_SIMILARITY * rarest.length) + 1) }
  })
}

/** The tools seen so far, by each of their rarest words. */
type Seen = Map<string, IndexedText[]>

/**
 * Returns the first similar tool among those seen. `budget.left` is the number of comparisons left across all calls.
 */
const findSimilar = (tool: IndexedText, seen: Seen, budget: { left: number }): IndexedText | undefined => {
  for (const word of tool.prefix) {
    for (const other of seen.get(word) ?? []) {
      if (budget.left-- <= 0) return undefined
      if (isSimilar(tool, other)) return other
    }
  }
  return undefined
}

/** Maps a tool's index to the index of the first tool similar to it. */
const pairSimilar = async (tools: readonly IndexedText[]): Promise<Map<number, number>> => {
  const pause = createPause()
  const pairs = new Map<number, number>()
  const described = new Map<string, number>()
  const seen: Seen = new Map()
  const budget = { left: MAX_COMPARED }
  for (const tool of tools) {
    await pause()
    const same = tool.description === '' ? undefined : described.get(tool.description)
    const found = same ?? findSimilar(tool, seen, budget)?.index
    if (same === undefined) described.set(tool.description, tool.index)
    // Later tools are compared only with the first of several similar tools.
    if (found !== undefined) pairs.set(tool.index, found)
    else
      for (const word of tool.prefix) {
        const others = seen.get(word)
        if (others === undefined) seen.set(word, [tool])
        else others.push(tool)
      }
  }
  return pairs
}

const toFinding = (own: NormalizedText, other: NormalizedText): Finding => {
  const isSame = hasSameDescription(own, other)
  return {
    rule: isSame ? 'same-description' : 'reads-alike',
    level: isSame ? 'warning' : 'hint',
    field: 'description',
    message: isSame
      ? `Its description is the same as that of "${other.name}", so a model has only the names to choose by.`
      : `It is almost identical to "${other.name}", so a model may confuse the two.`,
    remedy: 'Describe in both how they differ, or offer only one of them.',
    clients: [],
  }
}

/** Returns a finding for each tool that is similar to another, by tool index. Yields to the event loop regularly. */
export const lintSimilarTools = async (tools: readonly ToolText[]): Promise<ReadonlyMap<number, Finding>> => {
  const indexed = indexAll(tools)
  const found = new Map<number, Finding>()
  for (const [index, otherIndex] of await pairSimilar(indexed)) {
    const [own, other] = [indexed[index], indexed[otherIndex]]
    if (own === undefined || other === undefined) continue
    found.set(index, toFinding(own, other))
    if (!found.has(otherIndex)) found.set(otherIndex, toFinding(other, own))
  }
  return found
}

/** Compares a tool with others in linear time. Returns a finding for the first one that is similar. */
export const lintSimilarTool = async (tool: ToolText, others: readonly ToolText[]): Promise<Finding | undefined> => {
  const pause = createPause()
  const own = normalize(tool)
  for (const text of others) {
    await pause()
    const other = normalize(text)
    if (hasSameDescription(own, other) || isSimilar(own, other)) return toFinding(own, other)
  }
  return undefined
}
