import { createPause } from '../../lib/worker/pause.ts'
import type { Finding, ShownTool } from './finding.ts'
import { wordsOf } from './words.ts'

/** Of all words of two tools, how many both have, from which on a model takes one for the other. */
const ALIKE = 0.8
/** Of all pairs, as many as are compared; an honest catalogue needs a fraction. */
const MAX_COMPARED = 300_000

/** Of a tool as much as is read to choose by. */
export type ToolText = Pick<ShownTool, 'name' | 'description'>

type Read = {
  name: string
  /** Trimmed, in lower case. */
  description: string
  words: ReadonlySet<string>
}

const read = ({ name, description = '' }: ToolText): Read => ({
  name,
  description: description.trim().toLowerCase(),
  words: new Set([...wordsOf(name), ...wordsOf(description)]),
})

const isAlike = (a: Read, b: Read): boolean => {
  let shared = 0
  for (const word of a.words) if (b.words.has(word)) shared++
  return shared > 0 && shared >= ALIKE * (a.words.size + b.words.size - shared)
}

const isDescribedAlike = (a: Read, b: Read): boolean => a.description !== '' && a.description === b.description

type Placed = Read & {
  index: number
  /** Its rarest words, as many as that one that is alike must have one of them. */
  prefix: readonly string[]
}

const placeAll = (tools: readonly ToolText[]): Placed[] => {
  const frequency = new Map<string, number>()
  const all = tools.map(read)
  for (const { words } of all) for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1)
  const rarity = (word: string): number => frequency.get(word) ?? 0
  return all.map((tool, index) => {
    const rarest = [...tool.words].sort((a, b) => rarity(a) - rarity(b) || (a < b ? -1 : 1))
    return { ...tool, index, prefix: rarest.slice(0, rarest.length - Math.ceil(ALIKE * rarest.length) + 1) }
  })
}

/** By word, the tools that have it among their rarest. */
type Seen = Map<string, Placed[]>

/** Finds whoever of those that were seen reads like a tool, in `budget.left` comparisons of all together. */
const findAlike = (tool: Placed, seen: Seen, budget: { left: number }): Placed | undefined => {
  for (const word of tool.prefix) {
    for (const other of seen.get(word) ?? []) {
      if (budget.left-- <= 0) return undefined
      if (isAlike(tool, other)) return other
    }
  }
  return undefined
}

/** By the position of a tool: the position of the first that reads like it. */
const pairAlike = async (tools: readonly Placed[]): Promise<Map<number, number>> => {
  const pause = createPause()
  const pairs = new Map<number, number>()
  const described = new Map<string, number>()
  const seen: Seen = new Map()
  const budget = { left: MAX_COMPARED }
  for (const tool of tools) {
    await pause()
    const same = tool.description === '' ? undefined : described.get(tool.description)
    const found = same ?? findAlike(tool, seen, budget)?.index
    if (same === undefined) described.set(tool.description, tool.index)
    // Of several that are alike the first stands for all.
    if (found !== undefined) pairs.set(tool.index, found)
    else
      for (const word of tool.prefix) {
        const there = seen.get(word)
        if (there === undefined) seen.set(word, [tool])
        else there.push(tool)
      }
  }
  return pairs
}

const toFinding = (own: Read, other: Read): Finding => {
  const isSame = isDescribedAlike(own, other)
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
  const placed = placeAll(tools)
  const found = new Map<number, Finding>()
  for (const [index, otherIndex] of await pairAlike(placed)) {
    const [own, other] = [placed[index], placed[otherIndex]]
    if (own === undefined || other === undefined) continue
    found.set(index, toFinding(own, other))
    if (!found.has(otherIndex)) found.set(otherIndex, toFinding(other, own))
  }
  return found
}

/** What is said of one tool where another of its toolkit reads like it: the first that does. Linear in the others. */
export const lintWhoReadsAlike = async (tool: ToolText, others: readonly ToolText[]): Promise<Finding | undefined> => {
  const pause = createPause()
  const own = read(tool)
  for (const text of others) {
    await pause()
    const other = read(text)
    if (isDescribedAlike(own, other) || isAlike(own, other)) return toFinding(own, other)
  }
  return undefined
}
