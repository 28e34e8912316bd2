import type { JsonValue } from '../kernel/json.ts'
import { shorten } from './cut-text.ts'
import { formatAmount } from './format-counts.ts'
import { follow, hasMembers, type Path, renderPath } from './path.ts'

/** Maximum number of member names listed for a path that matches nothing. */
const MAX_NAMES = 30
const MAX_NAME_CHARACTERS = 60
/** Maximum number of values followed at each step. Further values usually have the same structure. */
const MAX_VALUES = 2_000
/** Maximum number of values searched for the same name elsewhere. */
const MAX_NODES = 50_000
const MAX_ELSEWHERE = 3

export const matches = (root: JsonValue, path: Path): boolean => {
  // Ensures that a container below several matches of a `**` is visited only once per step.
  const visited = path.map(() => new Set<JsonValue>())
  const isMatch = (value: JsonValue, at: number): boolean => {
    const step = path[at]
    if (step === undefined) return true
    if (step.kind !== 'deep') return follow(value, step).some(next => isMatch(next, at + 1))
    return follow(value, step).some(next => {
      if (visited[at]?.has(next)) return false
      visited[at]?.add(next)
      return isMatch(next, at + 1)
    })
  }
  return isMatch(root, 0)
}

const cut = (text: string): string => shorten(text, MAX_NAME_CHARACTERS)

const describeValues = (values: readonly JsonValue[]): string => {
  const names = new Set<string>()
  let hasMore = false
  for (const value of values) {
    if (!hasMembers(value)) continue
    for (const name of Object.keys(value)) {
      if (names.size < MAX_NAMES) names.add(name)
      else if (!names.has(name)) {
        hasMore = true
        break
      }
    }
  }
  if (names.size > 0) return `the members ${[...names].map(cut).join(', ')}${hasMore ? ', …' : ''}`
  const array = values.find(value => Array.isArray(value))
  if (array !== undefined)
    return array.length === 0
      ? 'no items: it is an empty array'
      : `${formatAmount(array.length, array.length, 'item')} of an array`
  if (values.some(hasMembers)) return 'no members: it is an empty object'
  return values.some(value => typeof value === 'string')
    ? 'no members: it is a text'
    : 'no members: it is a plain value'
}

const normalizeName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Returns paths to members with a similar name, outermost first. */
const findElsewhere = (root: JsonValue, name: string): readonly string[] => {
  const wanted = normalizeName(name)
  const found = new Set<string>()
  let queue: { value: JsonValue; path: Path }[] = [{ value: root, path: [] }]
  let seen = 0
  while (queue.length > 0 && wanted !== '') {
    const next: typeof queue = []
    for (const { value, path } of queue) {
      const children: [JsonValue, Path][] = Array.isArray(value)
        ? value.slice(0, MAX_VALUES).map(item => [item, [...path, { kind: 'items' }]])
        : hasMembers(value)
          ? Object.entries(value).map(([key, child]) => [child, [...path, { kind: 'member', name: key }]])
          : []
      for (const [child, childPath] of children) {
        const last = childPath.at(-1)
        if (last?.kind === 'member' && normalizeName(last.name) === wanted) found.add(renderPath(childPath))
        if (found.size >= MAX_ELSEWHERE || ++seen > MAX_NODES) return [...found]
        if (typeof child === 'object' && child !== null) next.push({ value: child, path: childPath })
      }
    }
    queue = next
  }
  return [...found]
}

/** Returns a hint if the path leads into a list that is represented as a table of columns and rows. */
const describeColumn = (value: JsonValue | undefined, path: Path, reached: number): string | undefined => {
  const at = path.findIndex((step, index) => index >= reached && step.kind === 'member')
  const step = path[at]
  if (value === undefined || !hasMembers(value) || step?.kind !== 'member') return undefined
  const { columns, rows } = value
  const index = Array.isArray(columns) && Array.isArray(rows) ? columns.indexOf(step.name) : -1
  if (index === -1) return undefined
  const cell: Path = [{ kind: 'member', name: 'rows' }, { kind: 'items' }, { kind: 'item', index }]
  const there = renderPath([...path.slice(0, reached), ...cell, ...path.slice(at + 1)])
  return ` It is a table, where ${cut(renderPath([step]))} is the column ${cut(there)}.`
}

/** Explains why a path matches nothing: how far it leads, what is there, and where its last name occurs. */
export const describeMiss = (root: JsonValue, path: Path): string => {
  let values: readonly JsonValue[] = [root]
  let reached = 0
  for (const step of path) {
    const next: JsonValue[] = []
    for (const value of values) {
      if (next.length >= MAX_VALUES) break
      next.push(...follow(value, step).slice(0, MAX_VALUES - next.length))
    }
    if (next.length === 0) break
    values = next
    reached++
  }
  // A name applied to an array refers to a member of its items.
  const [first] = values
  if (path[reached]?.kind === 'member' && values.length === 1 && Array.isArray(first) && first.some(hasMembers)) {
    values = first.slice(0, MAX_VALUES)
  }
  const where = reached === 0 ? 'There are' : `At ${cut(renderPath(path.slice(0, reached)))} there are`
  const name = path.findLast(step => step.kind === 'member')?.name
  const elsewhere = name === undefined ? [] : findElsewhere(root, name)
  const also = elsewhere.length > 0 ? ` There is also ${elsewhere.map(cut).join(', ')}.` : ''
  const hint = describeColumn(first, path, reached) ?? also
  return `${cut(renderPath(path))} matches nothing. ${where} ${describeValues(values)}.${hint}`
}
