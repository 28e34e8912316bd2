import type { JsonValue } from '../kernel/json.ts'
import { countLines } from './format-counts.ts'
import { hasMembers, type Path, renderPath } from './path.ts'
import type { PageInfo } from './result-document.ts'

export type Page = { offset: number; limit: number | undefined }

/** How deep an array is looked for that no path names. */
const MAX_SEARCH_DEPTH = 4

/** Where the array is that the path goes through first: members only before it. */
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

/** Where the longest array is that no other one holds. */
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

/** `These are items 21 to 40 of 1,000. Go on with offset 40.`, or that there are no more; `shown`: how many are sent. */
const describePage = (what: string, { offset, limit = Infinity }: Page, total: number, shown = limit): string => {
  const end = Math.min(total, offset + limit, offset + shown)
  const all = total.toLocaleString('en')
  if (total === 0) return `There are no ${what}.`
  if (offset >= total) return `There are only ${all} ${what}: offset ${offset} is behind the last of them.`
  if (end === offset) return `Not even the first of these ${what} can be shown: take fewer fields, or search.`
  const more = end < total ? ` Go on with offset ${end}.` : ''
  return `These are ${what} ${(offset + 1).toLocaleString('en')} to ${end.toLocaleString('en')} of ${all}.${more}`
}

const pageOf = <Item>(items: readonly Item[], { offset, limit }: Page): Item[] =>
  items.slice(offset, limit === undefined ? undefined : offset + limit)

const arrayAt = (root: JsonValue, names: readonly string[]): readonly JsonValue[] => {
  const found = names.reduce<JsonValue>((value, name) => (hasMembers(value) ? (value[name] ?? null) : null), root)
  return Array.isArray(found) ? found : []
}

/**
 * One page of the array that matters: the whole when it is one, else the first one on the way of a path, else the
 * longest. The value itself where there is no array.
 */
export const pageValue = (
  root: JsonValue,
  paths: readonly Path[],
  page: Page,
): { value: JsonValue; note: string; page?: PageInfo } => {
  const onPath = paths.map(path => arrayOnPath(root, path)).find(names => names !== undefined)
  const names = Array.isArray(root) ? [] : (onPath ?? longestArray(root))
  if (names === undefined) return { value: root, note: 'There is no array here: limit and offset change nothing.' }
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

/** Lines of a text that are whole in a beginning of it; one that is cut counts where there is no other. */
const countWholeLines = (text: string, beginning: string): number => {
  const isLastWhole = /^[^\S\n]*(?:\n|$)/.test(text.slice(beginning.length))
  return Math.max(1, countLines(beginning) - (isLastWhole ? 0 : 1))
}

/** One page of the lines of a text. */
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
