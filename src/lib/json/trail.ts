import type { JsonValue } from '../kernel/json.ts'
import { hasMembers } from './path.ts'

/**
 * The names and indexes that lead to a value and that its path leaves open, such as the index that `[]` stands for, with
 * the values that they lead to.
 */
export type Trail = { key: string | number; value: JsonValue }[]

/** Last words of the names of fields that name a record for people, and of fields that identify it, best first. */
const NAME_WORDS = ['name', 'title', 'label', 'headline', 'subject', 'summary', 'login', 'username', 'slug', 'symbol']
const ID_WORDS = ['key', 'code', 'sku', 'number', 'id', 'ref', 'reference', 'uuid', 'guid', 'email']
/** Members that hold the fields of a record, as in GeoJSON, Kubernetes, JSON:API, GraphQL and Elasticsearch. */
const WRAPPERS = ['properties', 'metadata', 'attributes', 'fields', 'node', '_source']
/** Maximum members of a record that are considered. */
const MAX_MEMBERS = 100

export type RecordName = { field: string; value: string | number; isId: boolean }

const wordsOf = (name: string): string[] =>
  name
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(word => word !== '')

/** Ranks of names of several words, such as `user_name`, and of ids, which come after all others. */
const SEVERAL_WORDS = 100
const ID = 1_000

const rankOf = (field: string): number | undefined => {
  const words = wordsOf(field)
  const last = words.at(-1) ?? ''
  const several = words.length > 1 ? SEVERAL_WORDS : 0
  if (NAME_WORDS.includes(last)) return several + NAME_WORDS.indexOf(last)
  return ID_WORDS.includes(last) ? ID + several + ID_WORDS.indexOf(last) : undefined
}

const nameAmong = (record: JsonValue | undefined): (RecordName & { rank: number }) | undefined => {
  if (!hasMembers(record)) return undefined
  let best: (RecordName & { rank: number }) | undefined
  for (const field of Object.keys(record).slice(0, MAX_MEMBERS)) {
    const value = record[field]
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '') continue
    const rank = rankOf(field)
    if (rank !== undefined && rank < (best?.rank ?? Number.POSITIVE_INFINITY)) {
      best = { field, value, isId: rank >= ID, rank }
    }
  }
  return best
}

const nameOf = (record: JsonValue): RecordName | undefined => {
  if (!hasMembers(record)) return undefined
  const own = nameAmong(record)
  if (own?.isId === false) return own
  const wrapped = WRAPPERS.map(name => nameAmong(record[name]))
  return wrapped.find(name => name?.isId === false) ?? own ?? wrapped.find(name => name !== undefined)
}

/** Returns what names the innermost record on a trail that has a name, an id or the like. */
export const findRecordName = (trail: Trail): RecordName | undefined => {
  for (const { value } of trail.toReversed()) {
    const name = nameOf(value)
    if (name !== undefined) return name
  }
  return undefined
}
