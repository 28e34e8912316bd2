import { createPause } from '../pause.ts'
import type { Finding, ShownTool } from './finding.ts'
import { wordsOf } from './words.ts'

/** Of all words of two tools, how many both have, from which on a model takes one for the other. */
const ALIKE = 0.8
/** Of all pairs, as many as are compared; an honest catalogue needs a fraction. */
const MAX_COMPARED = 300_000

/** Of a tool as much as is read to choose by. */
export type ToolText = Pick<ShownTool, 'name' | 'description'>

type Read = { index: number; name: string; description: string; words: readonly string[]; set: ReadonlySet<string> }

const readTools = (tools: readonly ToolText[]): Read[] => {
  const frequency = new Map<string, number>()
  const read = tools.map(({ name, description = '' }, index) => {
    const words = [...new Set([...wordsOf(name), ...wordsOf(description)])]
    for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1)
    return { index, name, description: description.trim().toLowerCase(), words, set: new Set(words) }
  })
  const rarity = (word: string): number => frequency.get(word) ?? 0
  // The rarest first: two tools that are alike share one of the first few of them.
  return read.map(tool => ({
    ...tool,
    words: tool.words.toSorted((a, b) => rarity(a) - rarity(b) || (a < b ? -1 : 1)),
  }))
}

const countShared = (a: ReadonlySet<string>, b: readonly string[]): number =>
  b.reduce((sum, word) => sum + (a.has(word) ? 1 : 0), 0)

const isAlike = (a: Read, b: Read): boolean => {
  const shared = countShared(a.set, b.words)
  return shared >= ALIKE * (a.words.length + b.words.length - shared)
}

/** How many of a tool's words, the rarest first, one that is alike must have one of. */
const prefixLength = ({ words }: Read): number => words.length - Math.ceil(ALIKE * words.length) + 1

/** By word, the tools that have it among their rarest. */
type Seen = Map<string, Read[]>

/** Finds whoever of those that were seen reads like a tool, in `budget.left` comparisons of all together. */
const findAlike = (tool: Read, prefix: readonly string[], seen: Seen, budget: { left: number }): Read | undefined => {
  for (const word of prefix) {
    for (const other of seen.get(word) ?? []) {
      if (budget.left-- <= 0) return undefined
      if (isAlike(tool, other)) return other
    }
  }
  return undefined
}

/** By the position of a tool: the position of the first that reads like it. */
const pairAlike = async (read: readonly Read[]): Promise<Map<number, number>> => {
  const pause = createPause()
  const pairs = new Map<number, number>()
  const described = new Map<string, number>()
  const seen: Seen = new Map()
  const budget = { left: MAX_COMPARED }
  for (const tool of read) {
    await pause()
    const same = tool.description === '' ? undefined : described.get(tool.description)
    const prefix = tool.words.slice(0, prefixLength(tool))
    const found = same ?? findAlike(tool, prefix, seen, budget)?.index
    if (same === undefined) described.set(tool.description, tool.index)
    // Of several that are alike the first stands for all.
    if (found !== undefined) pairs.set(tool.index, found)
    else
      for (const word of prefix) {
        const there = seen.get(word)
        if (there === undefined) seen.set(word, [tool])
        else there.push(tool)
      }
  }
  return pairs
}

const toFinding = (own: Read, other: Read): Finding => {
  const isSame = own.description !== '' && own.description === other.description
  return {
    rule: isSame ? 'same-description' : 'reads-alike',
    level: isSame ? 'warning' : 'hint',
    field: 'description',
    message: isSame
      ? `It is described in the same words as "${other.name}": nothing but the name tells a model which to call.`
      : `It reads almost like "${other.name}": a model may take one for the other.`,
    remedy: 'Say in both what sets them apart, or offer only one of them.',
    clients: [],
  }
}

/** By the position of a tool: what is said of it where another of the same catalogue reads like it. Takes turns. */
export const lintAlike = async (tools: readonly ToolText[]): Promise<ReadonlyMap<number, Finding>> => {
  const read = readTools(tools)
  const found = new Map<number, Finding>()
  for (const [index, otherIndex] of await pairAlike(read)) {
    const [own, other] = [read[index], read[otherIndex]]
    if (own === undefined || other === undefined) continue
    found.set(index, toFinding(own, other))
    if (!found.has(otherIndex)) found.set(otherIndex, toFinding(other, own))
  }
  return found
}

/** What is said of one tool where another of its toolkit reads like it: the first that does. Linear in the others. */
export const lintWhoReadsAlike = async (tool: ToolText, others: readonly ToolText[]): Promise<Finding | undefined> => {
  const pause = createPause()
  for (const other of others) {
    await pause()
    const [own, read] = readTools([tool, other])
    if (own === undefined || read === undefined) continue
    if ((own.description !== '' && own.description === read.description) || isAlike(own, read))
      return toFinding(own, read)
  }
  return undefined
}
