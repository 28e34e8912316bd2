import { isJsonObject } from '../../lib/kernel/json.ts'
import { UnwritableRequest } from '../../tools/import/draft-parameters.ts'
import { MAX_OPERATIONS } from '../limits.ts'
import type { RefusedOperation } from '../openapi/imported-operation.ts'
import { draftOrRefuse } from '../requests/draft-operation.ts'
import { createOperationKeys } from '../requests/request-key.ts'
import { secretsOfAuth } from './auth.ts'
import type { DraftedItem } from './bindings.ts'
import { Item, type PostmanCollection, type PostmanItem, type PostmanRequest } from './collection.schema.ts'
import { type Inherited, readRequest, targetOf } from './read-request.ts'
import type { Scope } from './variables.ts'

/** What the requests of a collection become, in their order. */
export type WalkedCollection = {
  items: readonly (DraftedItem | RefusedOperation)[]
  /** The secrets of all kinds of authentication, whether a tool has them or not. */
  secrets: readonly string[]
  /** All scripts, which are not run. */
  scripts: readonly string[]
  /** How many items are neither a folder nor a request. */
  unreadable: number
}

const inherit = ({ tags, auth, scripts, sendsAllBodies }: Inherited, folder: PostmanItem): Inherited => ({
  tags: folder.name === undefined ? tags : [...tags, folder.name],
  auth: folder.auth ?? auth,
  scripts: [...scripts, ...folder.event],
  sendsAllBodies: folder.protocolProfileBehavior?.disableBodyPruning ?? sendsAllBodies,
})

type Found = { item: PostmanItem; request: PostmanRequest; inherited: Inherited; key: string }

const draftItem = ({ item, request, inherited, key }: Found, scope: Scope): DraftedItem | RefusedOperation => {
  const sendsAllBodies = item.protocolProfileBehavior?.disableBodyPruning ?? inherited.sendsAllBodies
  try {
    return draftOrRefuse({ ...readRequest(item, request, { ...inherited, sendsAllBodies }, scope), key })
  } catch (error) {
    if (!(error instanceof UnwritableRequest)) throw error
    const source = { operationId: item.id, summary: item.name, tags: inherited.tags, deprecated: false }
    return { key, ...targetOf(request), ...source, reason: error.message }
  }
}

/** Removes what an item has. */
const empty = (raw: unknown): void => {
  if (isJsonObject(raw)) for (const key of Object.keys(raw)) delete raw[key]
}

/**
 * Reads all requests of a collection. Folders become tags, and pass on their credentials. The depth of folders is
 * limited by the depth of the JSON. Empties the items that it has read: a large collection and its tools would take too
 * much memory together.
 */
export const walkCollection = (collection: PostmanCollection, scope: Scope): WalkedCollection => {
  const items: (DraftedItem | RefusedOperation)[] = []
  const scripts: string[] = [...collection.event]
  const secrets = new Set(secretsOfAuth(collection.auth))
  const uniqueKey = createOperationKeys()
  let unreadable = 0

  const visit = (raw: unknown, inherited: Inherited): void => {
    if (items.length === MAX_OPERATIONS) return
    const parsed = Item.safeParse(raw)
    empty(raw)
    const item = parsed.success ? parsed.data : undefined
    scripts.push(...(item?.event ?? []))
    for (const one of [item?.auth, item?.request?.auth].flatMap(secretsOfAuth)) secrets.add(one)
    if (item?.item) {
      const within = inherit(inherited, item)
      visitAll(item.item, within)
    } else if (item?.request) {
      const { request } = item
      items.push(draftItem({ item, request, inherited, key: uniqueKey(targetOf(request)) }, scope))
    } else unreadable++
  }

  const visitAll = (list: unknown[], inherited: Inherited): void => {
    for (const [index, raw] of list.entries()) {
      list[index] = undefined
      visit(raw, inherited)
    }
  }

  const outermost: Inherited = {
    tags: [],
    auth: collection.auth ?? undefined,
    scripts: collection.event,
    sendsAllBodies: collection.protocolProfileBehavior?.disableBodyPruning === true,
  }
  visitAll(collection.item, outermost)
  return { items, secrets: [...secrets], scripts, unreadable }
}
