import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { PendingTool } from '../../upstreams/review/tool-review.ts'

/** Maximum number of names in a flag. The whole change is shown below it. */
const MAX_NAMES = 5
const MAX_NAME_CHARS = 60

const listNames = (names: readonly string[]): string => {
  const shown = names.slice(0, MAX_NAMES).map(name => name.slice(0, MAX_NAME_CHARS).toWellFormed())
  return [...shown, ...(names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [])].join(', ')
}

/** Collects the texts that models read in a schema, by place: the parameter's path, or what kind of schema it is. */
const collectTexts = (schema: JsonValue | undefined, place: string, texts: Map<string, string>, path = ''): void => {
  if (Array.isArray(schema)) for (const item of schema) collectTexts(item, place, texts, path)
  if (!isJsonObject(schema)) return
  for (const [key, value] of Object.entries(schema)) {
    if ((key === 'title' || key === 'description') && typeof value === 'string') {
      const name = path || place
      texts.set(name, `${texts.get(name) ?? ''}${value}\n`)
    } else if (key === 'properties' && isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        collectTexts(inner, place, texts, path === '' ? name : `${path}.${name}`)
      }
    } else collectTexts(value, place, texts, path)
  }
}

const textsOf = ({ title, description, annotations, inputSchema, outputSchema }: JsonObject) => {
  const texts = new Map<string, string>()
  if (typeof description === 'string') texts.set('the description', description)
  if (typeof title === 'string') texts.set('the title', title)
  if (isJsonObject(annotations) && typeof annotations.title === 'string') texts.set('the title hint', annotations.title)
  collectTexts(inputSchema, 'the input schema', texts)
  collectTexts(outputSchema, 'the output schema', texts)
  return texts
}

/** Returns whether a text has words that an earlier one does not have in the same place. */
const hasNewText = (before: string, after: string): boolean => {
  if (before.length < after.length) return true
  let start = 0
  while (start < after.length && before[start] === after[start]) start++
  return !before.endsWith(after.slice(start))
}

const requiredOf = ({ inputSchema }: JsonObject): string[] => {
  const required = isJsonObject(inputSchema) ? inputSchema.required : undefined
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}

const parametersOf = ({ inputSchema }: JsonObject): ReadonlySet<string> => {
  const properties = isJsonObject(inputSchema) ? inputSchema.properties : undefined
  return new Set(isJsonObject(properties) ? Object.keys(properties) : [])
}

/**
 * Returns warnings about a change that an approval should not miss: new text that models follow, and parameters that
 * calls must now contain. Of a new tool everything is new, so it has none.
 */
export const toReviewFlags = ({ before, after }: Pick<PendingTool, 'before' | 'after'>): string[] => {
  if (before === undefined) return []
  const earlier = textsOf(before)
  const places = [...textsOf(after)].flatMap(([place, text]) => {
    const known = earlier.get(place)
    return known === text || !hasNewText(known ?? '', text) ? [] : place
  })
  const wasRequired = new Set(requiredOf(before))
  const required = requiredOf(after).filter(name => !wasRequired.has(name))
  const known = parametersOf(before)
  const added = required.filter(name => !known.has(name))
  const tightened = required.filter(name => known.has(name))
  return [
    ...(places.length === 0 ? [] : [`New instructions in ${listNames(places)}`]),
    ...(added.length === 0 ? [] : [`New required parameter${added.length === 1 ? '' : 's'}: ${listNames(added)}`]),
    ...(tightened.length === 0 ? [] : [`Now required: ${listNames(tightened)}`]),
  ]
}
