import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'

/**
 * Matches characters that people do not see but models read: control characters (except tab and line feed), zero-width
 * and bidirectional marks, tags, fillers and variation selectors (Unicode's Default_Ignorable_Code_Point). Does not
 * match a single U+FE0F, which is common in emoji.
 */
const HIDDEN = /(?!\t|\n|\u{FE0F})[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]|(?<=\u{FE0F})\u{FE0F}/gu

export const removeHidden = (text: string): string => text.replace(HIDDEN, '').toWellFormed()

/** Checks all strings in a value, including keys. */
export const holdsHidden = (value: JsonValue | undefined): boolean => {
  const stack = [value]
  for (let next = stack.pop(); stack.length > 0 || next !== undefined; next = stack.pop()) {
    if (typeof next === 'string' && removeHidden(next) !== next) return true
    if (Array.isArray(next)) for (const item of next) stack.push(item)
    else if (isJsonObject(next)) for (const [key, member] of Object.entries(next)) stack.push(key, member)
  }
  return false
}
