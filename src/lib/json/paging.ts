import { formatNumber } from '../kernel/format.ts'
import type { JsonValue } from '../kernel/json.ts'
import { countLines } from './format-counts.ts'
import { hasMembers, type Path, renderPath } from './path.ts'
import type { PageInfo } from './result-document.ts'

export type Page = { offset: number; limit: number | undefined }

/** Maximum depth to search for an array if no path leads to one. */
const MAX_SEARCH_DEPTH = 4

/** Returns the names that lead to the first array on a path, if all steps before it are members. */
const arrayOnPath = (root: JsonValue, path: Path): readonly string[] | undefined => {
  const names: string[] = []
  let at = root
  for (const step of path) {
    if (Array.isArray(at)) return names
    if (step.kind !== 'member' || !hasMembers(at) || !Object.hasOwn(at, step.name)) return undefined
    names.push(step.name)
    at = at[step.name] ?? null
  }
  return Array.isArray(at) ? names : undefined
}

/** Returns the path to the longest array that is not nested in another array. */
const longestArray = (root: JsonValue): readonly string[] | undefined => {
  let longest: { names: readonly string[]; length: number } | undefined
  const look = (value: JsonValue, names: readonly string[]): void => {
    if (Array.isArray(value)) {
      if (longest === undefined || value.length > longest.length) longest = { names, length: value.length }
    } else if (hasMembers(value) && names.length < MAX_SEARCH_DEPTH) {
      for (const [name, child] of Object.entries(value)) look(child, [...names, name])
    }
  }
  look(root, [])
  return longest?.names
}

const replaceAt = (
  value: JsonValue,
  names: readonly string[],
  page: (items: JsonValue[]) => JsonValue[],
): JsonValue => {
  if (Array.isArray(value)) return page(value)
  const [name, ...rest] = names
  if (name === undefined || !hasMembers(value)) return value
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

const pageOf = <Item>(items: readonly Item[], { offset, limit }: Page): Item[] =>
  items.slice(offset, limit === undefined ? undefined : offset + limit)

const arrayAt = (root: JsonValue, names: readonly string[]): readonly JsonValue[] => {
  const found = names.reduce<JsonValue>((value, name) => (hasMembers(value) ? (value[name] ?? null) : null), root)
  return Array.isArray(found) ? found : []
}

/**
 * Cuts one array to a page: the value itself if it is an array, otherwise the first array on a path, or else the
 * longest array. Returns the value unchanged if it contains no array.
 */
export const pageValue = (
  root: JsonValue,
  paths: readonly Path[],
  page: Page,
): { value: JsonValue; note: string; page?: PageInfo } => {
  const onPath = paths.map(path => arrayOnPath(root, path)).find(names => names !== undefined)
  const names = Array.isArray(root) ? [] : (onPath ?? longestArray(root))
  if (names === undefined) return { value: root, note: 'There is no array here, so limit and offset have no effect.' }
  let total = 0
  const value = replaceAt(root, names, items => {
    total = items.length
    return pageOf(items, page)
  })
  const where = names.length === 0 ? 'items' : `items of ${renderPath(names.map(name => ({ kind: 'member', name })))}`
  const shown: PageInfo = {
    note: describePage(where, page, total),
    describe: count => describePage(where, page, total, count),
    countIn: beginning => (beginning.kind === 'json' ? arrayAt(beginning.value, names).length : 0),
  }
  return { value, note: shown.note, page: shown }
}

/** Counts the complete lines in the beginning of a text. Returns at least 1, even if that line is cut. */
const countWholeLines = (text: string, beginning: string): number => {
  const isLastWhole = /^[^\S\n]*(?:\n|$)/.test(text.slice(beginning.length))
  return Math.max(1, countLines(beginning) - (isLastWhole ? 0 : 1))
}

/** Returns one page of a text's lines. */
export const pageLines = (text: string, page: Page): { text: string; page: PageInfo } => {
  const lines = text.split('\n')
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
