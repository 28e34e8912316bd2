import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { metaOf } from '../message.ts'
import { invalidParams, type Refusal } from '../rpc-response.ts'
import type { ListHead, Listing } from './listing.ts'

/** The lists of one group of a grouped server, by method. */
export type GroupLists = { lists: ReadonlyMap<string, Listing>; head: ListHead }

const readGroup = (params: JsonObject | undefined): JsonValue | undefined => metaOf(params)?.group ?? params?.group

/** Returns the group that a request names in `_meta` or `params`. Only grouped servers use it. */
export const groupOf = (params: JsonObject | undefined): string | undefined => {
  const group = readGroup(params)
  return typeof group === 'string' ? group : undefined
}

/** Maximum number of group names listed in an error. */
const MAX_NAMES = 100

/**
 * Returns the lists of the group that a request names. Returns undefined if it names no group, or for tools/list, which
 * all groups share.
 */
export const findGroupLists = (
  groups: ReadonlyMap<string, GroupLists>,
  method: string,
  params: JsonObject | undefined,
): GroupLists | Refusal | undefined => {
  const group = readGroup(params)
  if (group === undefined || method === 'tools/list') return undefined
  if (typeof group !== 'string') return invalidParams('Invalid params: group is not a string')
  const found = groups.get(group)
  return found ?? invalidParams(`Unknown group: ${group}`, { groups: [...groups.keys()].slice(0, MAX_NAMES) })
}
