import type { JsonObject, JsonValue } from '../kernel/index.ts'
import { invalidParams, type Refusal } from './answer.ts'
import type { ListHead, Listing } from './listing.ts'
import { metaOf } from './message.ts'

/** What one group of a server that groups lists by itself, by method. */
export type GroupLists = { lists: ReadonlyMap<string, Listing>; head: ListHead }

const readGroup = (params: JsonObject | undefined): JsonValue | undefined => metaOf(params)?.group ?? params?.group

/** The group that a request is about, as its `_meta` or `params` says. A server that does not group ignores it. */
export const groupOf = (params: JsonObject | undefined): string | undefined => {
  const group = readGroup(params)
  return typeof group === 'string' ? group : undefined
}

/** Names that a refusal lists. */
const MAX_NAMES = 100

/** Undefined: the request is about all groups, or about a list that groups have in common. */
export const findGroupLists = (
  groups: ReadonlyMap<string, GroupLists>,
  method: string,
  params: JsonObject | undefined,
): GroupLists | Refusal | undefined => {
  const group = readGroup(params)
  if (group === undefined || method === 'tools/list') return undefined
  if (typeof group !== 'string') return invalidParams('Invalid params: group is no string')
  const found = groups.get(group)
  return found ?? invalidParams(`Unknown group: ${group}`, { groups: [...groups.keys()].slice(0, MAX_NAMES) })
}
