import { formatNumber } from '../kernel/format.ts'
import type { JsonObject, JsonValue } from '../kernel/json.ts'
import { countLines } from './format-counts.ts'
import { isKeyed } from './keyed-object.ts'
import { hasMembers, type Path, renderPath } from './path.ts'
import type { PageInfo } from './result-document.ts'

/** A negative offset counts from the end. */
export type Page = { offset: number; limit: number | undefined }

/** Maximum depth to search for a collection if no path leads to one. */
const MAX_SEARCH_DEPTH = 4

/** A value that can be paged: an array, or an object whose names are data. */
type Collection = JsonValue[] | JsonObject

const isCollection = (value: JsonValue): value is Collection =>
  Array.isArray(value) || (hasMembers(value) && isKeyed(value, Object.keys(value)))

const countIn = (collection: Collection): number =>
  Array.isArray(collection) ? collection.length : Object.keys(collection).length

/** Returns the names that lead to the first collection on a path, if all steps before it are members. */
const collectionOnPath = (root: JsonValue, path: Path): readonly string[] | undefined => {
  const names: string[] = []
  let at = root
  for (const step of path) {
    if (Array.isArray(at) || (step.kind === 'any' && isCollection(at))) return names
    if (step.kind !== 'member' || !hasMembers(at) || !Object.hasOwn(at, step.name)) return undefined
    names.push(step.name)
    at = at[step.name] ?? null
  }
  return isCollection(at) ? names : undefined
}

/** Returns the path to the largest collection that is not nested in another one. */
const largestCollection = (root: JsonValue): readonly string[] | undefined => {
  let largest: { names: readonly string[]; count: number } | undefined
  const look = (value: JsonValue, names: readonly string[]): void => {
    if (isCollection(value)) {
      const count = countIn(value)
      if (largest === undefined || count > largest.count) largest = { names, count }
    } else if (hasMembers(value) && names.length < MAX_SEARCH_DEPTH) {
      for (const [name, child] of Object.entries(value)) look(child, [...names, name])
    }
  }
  look(root, [])
  return largest?.names
}

const replaceAt = (
  value: JsonValue,
  names: readonly string[],
  page: (collection: Collection) => JsonValue,
): JsonValue => {
  const [name, ...rest] = names
  if (Array.isArray(value)) return page(value)
  if (!hasMembers(value)) return value
  if (name === undefined) return page(value)
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, key === name ? replaceAt(child, rest, page) : child]),
  )
}

/**
 * Returns a sentence such as `These are items 21 to 40 of 1,000. Continue with offset 40.` `shown` is the number of
 * items that were sent.
 */
const describePage = (what: string, { offset, limit = Infinity }: Page, total: number, shown = limit): string => {
  const end = Math.min(total, offset + limit, offset + shown)
  const all = formatNumber(total)
  if (total === 0) return `There are no ${what}.`
  if (offset >= total) return `There are only ${all} ${what}: offset ${offset} is past the end.`
  if (end === offset) return `Not even the first of these ${what} fits: select fewer fields, or search.`
  const more = end < total ? ` Continue with offset ${end}.` : ''
  return `These are ${what} ${formatNumber(offset + 1)} to ${formatNumber(end)} of ${all}.${more}`
}

/** Returns the page with an offset from the start. */
const fromStart = ({ offset, limit }: Page, total: number): Page => ({
  offset: offset < 0 ? Math.max(0, total + offset) : offset,
  limit,
})

const pageOf = <Item>(items: readonly Item[], { offset, limit }: Page): Item[] =>
  items.slice(offset, limit === undefined ? undefined : offset + limit)

const pageOfCollection = (collection: Collection, page: Page): JsonValue =>
  Array.isArray(collection) ? pageOf(collection, page) : Object.fromEntries(pageOf(Object.entries(collection), page))

/** Counts the items or members at a path in the beginning of a page, which may be too short to look like a collection. */
const countAt = (root: JsonValue, names: readonly string[]): number => {
  const found = names.reduce<JsonValue>((value, name) => (hasMembers(value) ? (value[name] ?? null) : null), root)
  return Array.isArray(found) || hasMembers(found) ? countIn(found) : 0
}

/**
 * Cuts one collection to a page: the value itself if it is one, otherwise the first one on a path, or else the largest.
 * Returns the value unchanged if it contains none.
 */
export const pageValue = (
  root: JsonValue,
  paths: readonly Path[],
  given: Page,
): { value: JsonValue; note: string; page?: PageInfo } => {
  const onPath = paths.map(path => collectionOnPath(root, path)).find(names => names !== undefined)
  const names = Array.isArray(root) ? [] : (onPath ?? largestCollection(root))
  if (names === undefined) return { value: root, note: 'There is no array here, so limit and offset have no effect.' }
  let total = 0
  let page = given
  let what = 'items'
  const value = replaceAt(root, names, collection => {
    total = countIn(collection)
    page = fromStart(given, total)
    what = Array.isArray(collection) ? 'items' : 'members'
    return pageOfCollection(collection, page)
  })
  const where = names.length === 0 ? what : `${what} of ${renderPath(names.map(name => ({ kind: 'member', name })))}`
  const shown: PageInfo = {
    note: describePage(where, page, total),
    describe: count => describePage(where, page, total, count),
    countIn: beginning => (beginning.kind === 'json' ? countAt(beginning.value, names) : 0),
  }
  return { value, note: shown.note, page: shown }
}

/** Counts the complete lines in the beginning of a text. Returns at least 1, even if that line is cut. */
const countWholeLines = (text: string, beginning: string): number => {
  const isLastWhole = /^[^\S\n]*(?:\n|$)/.test(text.slice(beginning.length))
  return Math.max(1, countLines(beginning) - (isLastWhole ? 0 : 1))
}

/** Returns one page of a text's lines. */
export const pageLines = (text: string, given: Page): { text: string; page: PageInfo } => {
  const lines = text.split('\n')
  // The empty line after the last line break is not one of the last lines that somebody asks for.
  const page = fromStart(given, lines.at(-1) === '' ? lines.length - 1 : lines.length)
  const paged = pageOf(lines, page).join('\n')
  return {
    text: paged,
    page: {
      note: describePage('lines', page, lines.length),
      describe: count => describePage('lines', page, lines.length, count),
      countIn: beginning => (beginning.kind === 'text' ? countWholeLines(paged, beginning.text) : 0),
    },
  }
}
