import type { Rows, Transaction } from '../../lib/db/client.ts'
import { withoutNulls } from '../../lib/kernel/missing.ts'
import type { ItemComparison } from './compare-import.ts'
import { type ComparedItem, type ImportImpact, impactOf, StoredComparison, toResolution } from './compared-item.ts'
import type { ToolOrigin } from './tool-sources.store.ts'

const NOT_COMPARED = { state: 'new', toolId: null, impact: null, comparison: null } as const

/** Returns the columns of an item with what it is to the tool that was imported before. JSON is text. */
export const toComparisonColumns = (comparison: ItemComparison | undefined) => {
  if (comparison === undefined) return NOT_COMPARED
  const { state, toolId, pieces, breaking } = comparison
  const stored = state === 'same' ? null : JSON.stringify({ pieces, breaking })
  return { state, toolId, impact: impactOf(comparison) ?? null, comparison: stored }
}

const GONE = 'The source no longer has this operation.'
const GONE_COMPARISON = { pieces: [], breaking: { mine: [{ message: GONE }], theirs: [{ message: GONE }] } }

/** Stores tools whose operations are gone, as items after those of the source. */
export const addGoneItems = async (
  tx: Transaction,
  { importId, position }: { importId: string; position: number },
  gone: readonly ToolOrigin[],
): Promise<void> => {
  if (gone.length === 0) return
  await tx.importItem.createMany({
    data: gone.map(({ toolId, name, key, operationId = null, method, path }, index) => ({
      ...{ importId, position: position + index, operationId, method, path, name, toolId },
      // Another operation may have the same method and path by now.
      key: `${key} (gone ${index + 1})`,
      ...{ state: 'gone', impact: 'breaking', reason: GONE, comparison: GONE_COMPARISON },
      ...{ tags: '[]', rules: '[]', unsupported: [], globals: [], notes: [], findings: [] },
      searchText: `${name}\n${path}`.toLowerCase(),
    })),
  })
}

/** Returns whether tools of the toolkit were imported from operations of this import before. */
export const isImportedAgain = async (tx: Transaction, importId: string): Promise<boolean> =>
  (await tx.importItem.findFirst({ where: { importId, state: { not: 'new' } }, select: { key: true } })) !== null

const COLUMNS = {
  ...{ position: true, key: true, method: true, path: true, selected: true, state: true, resolve: true },
  ...{ name: true, toolId: true, impact: true, comparison: true },
} as const

type Row = Pick<Rows.ImportItem, keyof typeof COLUMNS>

const toComparedItem = (row: Row): ComparedItem[] => {
  const { toolId, impact, comparison, ...item } = withoutNulls(row)
  if (toolId === undefined || impact === undefined) return []
  const { pieces, breaking, choices } = StoredComparison.parse(comparison)
  const chosen = (choices && breaking.chosen) ?? breaking[item.resolve ?? 'mine']
  const resolve = toResolution(row.resolve, row.comparison)
  const changes = chosen.map(one => ({ ...one, parameter: one.parameter }))
  return [{ ...item, resolve, toolId, impact, pieces, breaking: changes }]
}

/** The parts of the list of changes. A tool is in one of them. */
export const CHANGE_PARTS = ['breaking', 'conflict', 'changed', 'wording'] as const
export type ChangePart = (typeof CHANGE_PARTS)[number]

const WHERE = {
  breaking: { impact: 'breaking' },
  conflict: { state: 'conflict', impact: { not: 'breaking' } },
  changed: { state: 'changed', impact: 'other' },
  wording: { state: 'changed', impact: 'wording' },
} as const satisfies Record<ChangePart, Rows.Prisma.ImportItemWhereInput>

const CHANGED = { impact: { not: null } } satisfies Rows.Prisma.ImportItemWhereInput

/** Lists the tools of a part of the changes, or of all, in the order of the source, after a position. */
export const listChanges = async (
  tx: Transaction,
  importId: string,
  part: ChangePart | undefined,
  { limit, after = -1 }: { limit: number; after?: number | undefined },
): Promise<ComparedItem[]> => {
  const where = { importId, position: { gt: after }, ...(part === undefined ? CHANGED : WHERE[part]) }
  const rows = await tx.importItem.findMany({ where, select: COLUMNS, orderBy: { position: 'asc' }, take: limit })
  return rows.flatMap(toComparedItem)
}

export type ChangeCounts = Readonly<Record<ChangePart | 'added' | 'gone' | 'same', number>>

/** Counts the changes of an import. Undefined if its source was not imported before. */
export const countChanges = async (tx: Transaction, importId: string): Promise<ChangeCounts | undefined> => {
  const groups = await tx.importItem.groupBy({ by: ['state', 'impact'], where: { importId }, _count: true })
  if (groups.every(({ state }) => state === 'new')) return undefined
  const count = (isCounted: (group: { state: string; impact: ImportImpact | null }) => boolean): number =>
    groups.filter(isCounted).reduce((sum, { _count }) => sum + _count, 0)
  return {
    breaking: count(({ impact }) => impact === 'breaking'),
    conflict: count(({ state, impact }) => state === 'conflict' && impact !== 'breaking'),
    changed: count(({ state, impact }) => state === 'changed' && impact === 'other'),
    wording: count(({ state, impact }) => state === 'changed' && impact === 'wording'),
    added: count(({ state }) => state === 'new'),
    gone: count(({ state }) => state === 'gone'),
    same: count(({ state }) => state === 'same'),
  }
}

/** Returns what an item was found to change. Undefined if nothing was imported from the operation before. */
export const findComparison = async (
  tx: Transaction,
  importId: string,
  key: string,
): Promise<StoredComparison | undefined> => {
  const where = { importId_key: { importId, key } }
  const row = await tx.importItem.findUnique({ where, select: { comparison: true } })
  return row === null || row.comparison === null ? undefined : StoredComparison.parse(row.comparison)
}

/** Returns the organization of an import in a toolkit of these organizations. */
export const findOrganizationOfImport = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<string | undefined> => {
  const where = { id, toolkit: { organizationId: { in: [...organizationIds] } } }
  const row = await tx.import.findFirst({ where, select: { toolkit: { select: { organizationId: true } } } })
  return row?.toolkit.organizationId
}

/** Returns the names of tools by ID. The caller checks access. */
export const listNamesOfTools = async (
  tx: Transaction,
  toolIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await tx.tool.findMany({ where: { id: { in: [...toolIds] } }, select: { id: true, name: true } })
  return new Map(rows.map(({ id, name }) => [id, name]))
}
