import { formatNumber } from '../../lib/kernel/format.ts'
import type { PendingTool } from '../../upstreams/review/tool-review.ts'
import { readToolTexts, type ToolTexts } from './tool-texts.ts'

/** Maximum number of names in a flag. The whole change is shown below it. */
const MAX_NAMES = 5
const MAX_NAME_CHARS = 60

const listNames = (names: readonly string[]): string => {
  const shown = names.slice(0, MAX_NAMES).map(name => name.slice(0, MAX_NAME_CHARS).toWellFormed())
  const more = names.length - MAX_NAMES
  return [...shown, ...(more > 0 ? [`${formatNumber(more)} more`] : [])].join(', ')
}

const flagOf = (text: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${text} ${listNames(names)}`]

/** Returns the words of the texts that are not also in `others`. */
const ownWords = (texts: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others)
  return texts.filter(text => !known.has(text)).flatMap(text => text.split(/\s+/).filter(word => word !== ''))
}

/** Returns whether all words occur in `others` in the same order. */
const areWithin = (words: readonly string[], others: readonly string[]): boolean => {
  let count = 0
  for (const other of others) if (words[count] === other) count++
  return count === words.length
}

/** Returns the places where `after` has words that `before` does not have there. */
const placesOfNewWords = (before: ToolTexts, after: ToolTexts): string[] =>
  [...after.texts].flatMap(([place, texts]) => {
    const known = before.texts.get(place) ?? []
    return areWithin(ownWords(texts, known), ownWords(known, texts)) ? [] : place
  })

/** Returns the parameters that calls must newly contain. Those within a new object count only with the object. */
const newlyRequired = (before: ToolTexts, after: ToolTexts): string[] =>
  [...after.required].flatMap(([parameter, path]) => {
    const object = path.replace(/(?:\[\])+$/, '')
    const isWithinNew = after.parameters.has(object) && !before.parameters.has(object)
    return before.required.has(parameter) || isWithinNew ? [] : parameter
  })

/**
 * Returns warnings about a change that an approval should not miss: new text that models follow, text that they no
 * longer read, which may have been a restriction, and parameters that calls must now contain. Of a new tool everything
 * is new, so it has none.
 */
export const toReviewFlags = (tool: Pick<PendingTool, 'before' | 'after'>): string[] => {
  if (tool.before === undefined) return []
  const [before, after] = [readToolTexts(tool.before), readToolTexts(tool.after)]
  const required = newlyRequired(before, after)
  const added = required.filter(name => !before.parameters.has(name))
  return [
    ...flagOf('New instructions in', placesOfNewWords(before, after)),
    ...flagOf('Text removed from', placesOfNewWords(after, before)),
    ...flagOf(added.length === 1 ? 'New required parameter:' : 'New required parameters:', added),
    ...flagOf(
      'Now required:',
      required.filter(name => before.parameters.has(name)),
    ),
  ]
}
