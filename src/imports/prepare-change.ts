import type { Database } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import type { TextCounterFor, TokenCounterFor } from '../lib/tokens/token-counter.ts'
import { resolveConflicts } from './again/resolve-conflicts.ts'
import { withUpdatedTools } from './again/updated-tools.ts'
import type { Import, ImportItem } from './import.ts'
import { type ImportChange, type PreparedEdit, prepareEdit } from './import-changes.ts'
import { findItem, type StoredResolution } from './import-items.store.ts'
import { prepareNames } from './naming/name-items.ts'
import type { ItemName } from './naming/named-items.store.ts'
import { changedNaming, isSameNaming } from './naming/naming.ts'

type Parts = { db: Database; tokenCounterFor: TokenCounterFor; textCounterFor: TextCounterFor }

type ItemEdit = PreparedEdit & { resolution: StoredResolution | undefined }

/**
 * The edits and names of a change. They are valid as long as the import equals `before`. `names` is undefined if the
 * naming stays the same.
 */
export type PreparedChange = { before: Import; edits: readonly ItemEdit[]; names: readonly ItemName[] | undefined }

const itemNotFound = () => new AppError('not_found', 'The import has no such operation.')

/** Returns an operation of an import, with the tool as the import would update it. Throws `not_found`. */
export const getUpdatedItem = async (db: Database, importId: string, key: string): Promise<ImportItem> => {
  const item = orThrow(await findItem(db, importId, key), itemNotFound)
  const [updated = item] = await withUpdatedTools(db, [item])
  return updated
}

const prepareNaming = async (
  { db, textCounterFor }: Parts,
  actor: Actor,
  before: Import,
  { settings }: ImportChange,
  edits: readonly PreparedEdit[],
): Promise<ItemName[] | undefined> => {
  const naming = changedNaming(before.settings.naming, settings?.naming)
  if (isSameNaming(naming, before.settings.naming)) return undefined
  const pending = new Map(edits.map(({ item, edits: { name } }) => [item.key, name]))
  return prepareNames({ db, count: textCounterFor(actor.userId) }, before, naming, pending)
}

/**
 * Prepares a change outside of a transaction, because counting tokens takes time. Throws `invalid_request` if an edit
 * or a resolution of conflicts is not valid.
 */
export const prepareChange = async (
  parts: Parts,
  actor: Actor,
  before: Import,
  change: ImportChange,
): Promise<PreparedChange> => {
  const { db, tokenCounterFor } = parts
  const edits: ItemEdit[] = []
  for (const [key, itemChange] of Object.entries(change.items ?? {})) {
    if (itemChange === undefined) continue
    const item = await getUpdatedItem(db, before.id, key)
    const edit = await prepareEdit(item, itemChange, tokenCounterFor(actor.userId))
    edits.push({ ...edit, resolution: await resolveConflicts(db, item, itemChange.resolve) })
  }
  return { before, edits, names: await prepareNaming(parts, actor, before, change, edits) }
}
