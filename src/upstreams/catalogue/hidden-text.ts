import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'

/**
 * What nobody sees and a model reads: control characters but tab and line feed, marks of no width and of direction, tags,
 * fillers, and the selectors that text has been smuggled in (Unicode, "Default_Ignorable_Code_Point"). The one behind a
 * sign that makes it an emoji stays, as honest texts have it.
 */
const HIDDEN = /(?!\t|\n|\u{FE0F})[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]|(?<=\u{FE0F})\u{FE0F}/gu

/** The text without what is hidden in it. */
export const removeHidden = (text: string): string => text.replace(HIDDEN, '').toWellFormed()

/** Whether any text in it, keys too, holds something hidden. */
export const holdsHidden = (value: JsonValue | undefined): boolean => {
  const stack = [value]
  for (let next = stack.pop(); stack.length > 0 || next !== undefined; next = stack.pop()) {
    if (typeof next === 'string' && removeHidden(next) !== next) return true
    if (Array.isArray(next)) for (const item of next) stack.push(item)
    else if (isJsonObject(next)) for (const [key, member] of Object.entries(next)) stack.push(key, member)
  }
  return false
}
