import { z } from 'zod'
import type { Database } from '../../lib/db/client.ts'

/** The operations with a tag that can become tools. The tag of those without tags is undefined. */
export type ImportFolder = {
  tag: string | undefined
  operations: number
  selected: number
  selectedTokens: number
}

const Tags = z.array(z.string())
const MAX_REFUSED = 200

/** Lists the tags of an import, with sums. An operation counts for each of its tags. Its access has been checked. */
export const listFolders = async (db: Database, importId: string): Promise<ImportFolder[]> => {
  const groups = await db.importItem.groupBy({
    by: ['tags', 'selected'],
    where: { importId, reason: null },
    _count: true,
    _sum: { tokens: true },
    _min: { position: true },
  })
  const folders = new Map<string | undefined, ImportFolder>()
  const inOrder = groups.toSorted((one, other) => (one._min.position ?? 0) - (other._min.position ?? 0))
  for (const { tags, selected, _count, _sum } of inOrder) {
    const names = Tags.parse(JSON.parse(tags))
    for (const tag of names.length === 0 ? [undefined] : new Set(names)) {
      const folder = folders.get(tag) ?? { tag, operations: 0, selected: 0, selectedTokens: 0 }
      folder.operations += _count
      if (selected) folder.selected += _count
      if (selected) folder.selectedTokens += _sum.tokens ?? 0
      folders.set(tag, folder)
    }
  }
  return [...folders.values()]
}

/** Lists operations that cannot be imported, at most 200, with the reason. The access to the import has been checked. */
export const listRefused = async (db: Database, importId: string): Promise<{ key: string; reason: string }[]> => {
  const rows = await db.importItem.findMany({
    where: { importId, reason: { not: null }, state: { not: 'gone' } },
    select: { key: true, reason: true },
    orderBy: { position: 'asc' },
    take: MAX_REFUSED,
  })
  return rows.map(({ key, reason }) => ({ key, reason: reason ?? '' }))
}

const Notes = z.array(z.string())
const MAX_NOTED = 1_000

/** Lists operations whose import left out or changed something, at most 1,000. The access to the import has been checked. */
export const listNoted = async (
  db: Database,
  importId: string,
): Promise<{ key: string; notes: readonly string[] }[]> => {
  const rows = await db.importItem.findMany({
    where: { importId, reason: null, NOT: { notes: { equals: [] } } },
    select: { key: true, notes: true },
    orderBy: { position: 'asc' },
    take: MAX_NOTED,
  })
  return rows.map(({ key, notes }) => ({ key, notes: Notes.parse(notes) }))
}

/** Counts the selected operations that become new tools. The access to the import has been checked. */
export const countSelectedNew = (db: Database, importId: string): Promise<number> =>
  db.importItem.count({ where: { importId, state: 'new', selected: true, reason: null } })
