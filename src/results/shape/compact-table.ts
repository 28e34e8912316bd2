import { hasMembers } from '../../lib/json/path.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'

/** Shorter lists are read as easily as they are. */
const MIN_ROWS = 5
/** Characters that a table has more than a list, at least: `{"columns":[],"rows":[]}`. */
const FRAME_CHARACTERS = 24

const isTable = (value: JsonObject): boolean => {
  const keys = Object.keys(value)
  return keys.length === 2 && keys.includes('columns') && keys.includes('rows')
}

/** Whether something looks like a table of ours already: among those nobody could tell which is which. */
const holdsTable = (value: JsonValue): boolean => {
  if (Array.isArray(value)) return value.some(holdsTable)
  return hasMembers(value) && (isTable(value) || Object.values(value).some(holdsTable))
}

/** The members that all items have, no more and no less; undefined where they differ. */
const columnsOf = (list: readonly JsonValue[]): string[] | undefined => {
  const [first] = list
  if (list.length < MIN_ROWS || !hasMembers(first)) return undefined
  const columns = Object.keys(first)
  const isLike = (item: JsonValue): boolean =>
    hasMembers(item) &&
    Object.keys(item).length === columns.length &&
    columns.every(column => Object.hasOwn(item, column))
  // Each name is written once, and once in each row no more.
  const saved = (list.length - 1) * columns.reduce((sum, column) => sum + JSON.stringify(column).length + 1, 0)
  return saved > FRAME_CHARACTERS && list.every(isLike) ? columns : undefined
}

const toTables = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) {
    const columns = columnsOf(value)
    if (columns === undefined) return value.map(toTables)
    const rows = value.map(item => (hasMembers(item) ? columns.map(column => toTables(item[column] ?? null)) : []))
    return { columns, rows }
  }
  if (!hasMembers(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toTables(member)]))
}

/**
 * The value with each list of five objects or more that have the same members written as
 * `{"columns": ["id", …], "rows": [[1, …], …]}`. Nothing is lost but the order of members. Undefined where there is no
 * such list, or what is there could be taken for a table already.
 */
export const compactTables = (value: JsonValue): JsonValue | undefined => {
  if (holdsTable(value)) return undefined
  const compact = toTables(value)
  return holdsTable(compact) ? compact : undefined
}
