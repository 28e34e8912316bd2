import type { Database, Transaction } from '../../lib/db/client.ts'
import type { TextCounter } from '../../lib/tokens/token-counter.ts'
import { createPause } from '../../lib/worker/pause.ts'
import type { Import } from '../import.ts'
import { searchTextOf } from '../import-items.store.ts'
import { claimToolName } from '../openapi/names.ts'
import { type ItemName, listNameable, listToolNames, type NameableItem, updateNames } from './named-items.store.ts'
import { DEFAULT_NAMING, type ImportNaming, isSameNaming, longNameOf } from './naming.ts'

/** Rows per query. Reading or writing this many takes a few milliseconds. */
const ROWS_AT_ONCE = 200

/** Names by key that the same change gives to tools. Undefined restores what was generated. */
export type PendingNames = ReadonlyMap<string, string | undefined>

type Named = { item: NameableItem; name: string }

const listAll = async (db: Database, importId: string, pending: PendingNames): Promise<NameableItem[]> => {
  const pause = createPause()
  const items: NameableItem[] = []
  for (let isMore = true; isMore; await pause()) {
    const after = items.at(-1)?.position ?? -1
    const rows = await listNameable(db, importId, { limit: ROWS_AT_ONCE, after })
    for (const row of rows) items.push(pending.has(row.key) ? { ...row, edited: pending.get(row.key) } : row)
    isMore = rows.length === ROWS_AT_ONCE
  }
  return items
}

/** Returns the start of a tool's JSON. A new name changes only its tokens, not those of the rest. */
const startOf = (name: string): string => `{"name":"${name}","`

const withTokens = async (batch: readonly Named[], count: TextCounter): Promise<ItemName[]> => {
  const shown = batch.filter(({ item }) => item.edited === undefined)
  const before = await count(shown.map(({ item }) => startOf(item.name)))
  const after = await count(shown.map(({ name }) => startOf(name)))
  const more = new Map(shown.map(({ item }, index) => [item, (after[index] ?? 0) - (before[index] ?? 0)]))
  return batch.map(({ item, name }) => ({
    position: item.position,
    name,
    searchText: searchTextOf(item, item.edited ?? name),
    moreTokens: more.get(item) ?? 0,
  }))
}

/**
 * Returns the names of new operations that change with a naming. They are valid, and none is that of another operation, a
 * tool of the toolkit or one that the builder has chosen. Yields to the event loop.
 */
export const prepareNames = async (
  { db, count }: { db: Database; count: TextCounter },
  { id, toolkitId }: Pick<Import, 'id' | 'toolkitId'>,
  naming: ImportNaming,
  pending: PendingNames = new Map(),
): Promise<ItemName[]> => {
  const pause = createPause()
  const items = await listAll(db, id, pending)
  const taken = new Set([...(await listToolNames(db, toolkitId)), ...items.flatMap(({ edited }) => edited ?? [])])
  const isDefault = isSameNaming(naming, DEFAULT_NAMING)
  const changed: Named[] = []
  for (const item of items) {
    const name = isDefault ? item.generated : claimToolName(longNameOf(item, naming), taken)
    if (name !== item.name) changed.push({ item, name })
    await pause()
  }
  const names: ItemName[] = []
  for (let at = 0; at < changed.length; at += ROWS_AT_ONCE) {
    names.push(...(await withTokens(changed.slice(at, at + ROWS_AT_ONCE), count)))
    await pause()
  }
  return names
}

/** Stores names in a transaction. Yields to the event loop. */
export const storeNames = async (tx: Transaction, importId: string, names: readonly ItemName[]): Promise<void> => {
  const pause = createPause()
  for (let at = 0; at < names.length; at += ROWS_AT_ONCE) {
    await updateNames(tx, importId, names.slice(at, at + ROWS_AT_ONCE))
    await pause()
  }
}
