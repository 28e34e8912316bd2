import type { Database, Rows, Transaction } from '../lib/db/client.ts'
import { containing } from '../lib/db/containing.ts'
import { insertRows } from '../lib/db/insert-rows.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import type { ItemComparison } from './again/compare-import.ts'
import { type StoredComparison, toResolution } from './again/compared-item.ts'
import { toComparisonColumns } from './again/compared-items.store.ts'
import {
  editedTool,
  ImportEdits,
  type ImportItem,
  type ImportItemState,
  type ImportTotals,
  type ReadOperation,
  ReadRefusal,
  ReadTool,
} from './import.ts'
import { type KeptChoice, toChoiceColumns } from './kept-choices.store.ts'

/** Which items of an import. All fields apply. */
export type ItemFilter = {
  /** Part of the name, path, operationId or summary. */
  q?: string | undefined
  /** Empty for the operations without tags. */
  tag?: string | undefined
  /** Upper case. */
  method?: string | undefined
  state?: ImportItemState | undefined
  /** A rule that a finding of the tool is about. */
  rule?: string | undefined
  selected?: boolean | undefined
  /** Whether the operation can become a tool. */
  usable?: boolean | undefined
}

/** Which items: by key, or all that match a filter. */
export type ItemChoice = { keys: readonly string[] } | { filter: ItemFilter }

const toOperation = (row: Rows.ImportItem): ReadOperation => {
  const { operationId, summary, reason, tool, tokens, outputSchema, pagination, ...rest } = withoutNulls(row)
  const common = { ...rest, operationId, summary, tags: JSON.parse(row.tags) }
  if (reason !== undefined) return ReadRefusal.parse({ ...common, reason })
  return ReadTool.parse({
    ...common,
    ...{ tool, tokens, outputSchema, pagination },
    unsupportedSecurity: row.unsupported,
  })
}

const toItem = (row: Rows.ImportItem): ImportItem => {
  const { importId, position, selected, state, toolId, name, edits = {} } = withoutNulls(row)
  const resolve = toResolution(row.resolve, row.comparison)
  const chosen = { selected, resolve, edits: ImportEdits.parse(edits) }
  // The tools of other operations have names already.
  const proposedName = state === 'new' ? name : undefined
  return { importId, position, state, toolId, ...chosen, proposedName, ...toOperation(row) }
}

/** Returns text that PostgreSQL can store. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\u{fffd}')

/** Returns the text in which queries search for an operation. */
export const searchTextOf = (
  operation: Pick<ReadOperation, 'path' | 'operationId' | 'summary'>,
  name: string,
): string =>
  storable([name, operation.path, operation.operationId ?? '', operation.summary ?? ''].join('\n').toLowerCase())

const toText = (value: object | undefined): string | null => (value === undefined ? null : JSON.stringify(value))

/** The columns that are null if an operation cannot become a tool. */
const NO_TOOL = { name: null, tokens: null, pagination: null, tool: null, outputSchema: null }

const toRow = (operation: ReadOperation) => {
  const { key, operationId, method, path, summary, deprecated, tags } = operation
  const common = {
    key: storable(key),
    operationId: operationId === undefined ? null : storable(operationId),
    method: storable(method),
    path: storable(path),
    summary: summary === undefined ? null : storable(summary),
    deprecated,
    tags: JSON.stringify(tags),
  }
  if ('reason' in operation) {
    const lists = { rules: '[]', unsupported: '[]', globals: '[]', notes: '[]', findings: '[]' }
    return {
      ...common,
      reason: storable(operation.reason),
      searchText: searchTextOf(operation, ''),
      ...lists,
      ...NO_TOOL,
    }
  }
  const { tool, tokens, findings, notes, globals, unsupportedSecurity, outputSchema, pagination } = operation
  return {
    ...common,
    ...{ reason: null, name: tool.name, tokens, searchText: searchTextOf(operation, tool.name) },
    rules: JSON.stringify([...new Set(findings.map(({ rule }) => rule))]),
    unsupported: JSON.stringify(unsupportedSecurity),
    globals: JSON.stringify(globals),
    notes: JSON.stringify(notes),
    findings: JSON.stringify(findings),
    pagination: toText(pagination),
    tool: toText(tool),
    outputSchema: toText(outputSchema),
  }
}

/** An operation at its place in the source, compared with the tool that was imported from it before. */
export type NewItem = { position: number; operation: ReadOperation; comparison: ItemComparison | undefined }

/** Returns the columns with what the builder chose before, and the text to search for the name that the tool then has. */
const toKeptColumns = (choice: KeptChoice | undefined, item: NewItem) => {
  const { edits, resolve = null, ...columns } = toChoiceColumns(choice, item)
  const name = edits?.name ?? columns.name ?? item.comparison?.name
  return {
    ...columns,
    ...{ edits: toText(edits), resolve },
    ...(name !== undefined && { searchText: searchTextOf(item.operation, name) }),
  }
}

/** Stores operations. `isSelected` decides which are selected; `kept` are edits of an earlier reading. */
export const addItems = async (
  tx: Transaction,
  importId: string,
  items: readonly NewItem[],
  isSelected: (item: NewItem) => boolean,
  kept: ReadonlyMap<string, KeptChoice> = new Map(),
): Promise<void> => {
  const rows = items.map(item => ({
    importId,
    position: item.position,
    selected: isSelected(item),
    ...toRow(item.operation),
    ...toComparisonColumns(item.comparison),
    ...toKeptColumns(kept.get(item.operation.key), item),
  }))
  await insertRows(tx, 'ImportItem', rows)
}

export const removeItems = async (tx: Transaction, importId: string): Promise<void> => {
  await tx.importItem.deleteMany({ where: { importId } })
}

/** An import, and the kind of its database, on which searching depends. */
export type ItemPlace = { importId: string; kind: Database['kind'] }

const whereOf = ({ importId, kind }: ItemPlace, filter: ItemFilter): Rows.Prisma.ImportItemWhereInput => {
  const { q, tag, method, state, rule, selected, usable } = filter
  // A list is text, in which a member is written as in JSON.
  const inList = (text: string) => containing({ kind }, JSON.stringify(text))
  return {
    importId,
    ...(q !== undefined && { searchText: containing({ kind }, q.toLowerCase()) }),
    ...(tag !== undefined && { tags: tag === '' ? '[]' : inList(tag) }),
    ...(rule !== undefined && { rules: inList(rule) }),
    ...(method !== undefined && { method }),
    ...(state !== undefined && { state }),
    ...(selected !== undefined && { selected }),
    ...(usable !== undefined && { reason: usable ? null : { not: null } }),
  }
}

/** Lists items in the order of the source, after a position. */
export const listItems = async (
  tx: Transaction,
  place: ItemPlace,
  filter: ItemFilter,
  { limit, after }: { limit: number; after: number | undefined },
): Promise<ImportItem[]> => {
  const where = { ...whereOf(place, filter), ...(after !== undefined && { position: { gt: after } }) }
  return (await tx.importItem.findMany({ where, orderBy: { position: 'asc' }, take: limit })).map(toItem)
}

export const countItems = (tx: Transaction, place: ItemPlace, filter: ItemFilter): Promise<number> =>
  tx.importItem.count({ where: whereOf(place, filter) })

export const findItem = async (tx: Transaction, importId: string, key: string): Promise<ImportItem | undefined> =>
  mapFound(await tx.importItem.findUnique({ where: { importId_key: { importId, key } } }), toItem)

/** Selects or deselects items. Operations that cannot become tools stay deselected. */
export const setSelected = async (
  tx: Transaction,
  place: ItemPlace,
  choice: ItemChoice,
  selected: boolean,
): Promise<void> => {
  const chosen =
    'keys' in choice ? { importId: place.importId, key: { in: [...choice.keys] } } : whereOf(place, choice.filter)
  await tx.importItem.updateMany({
    where: { AND: [chosen, { reason: null, selected: !selected }] },
    data: { selected },
  })
}

/** How the conflicts of an item are resolved: by a side, or by the choices of a comparison. */
export type StoredResolution = { resolve: 'mine' | 'theirs' | undefined; comparison: StoredComparison | undefined }

/** Drops undefined members, which Prisma refuses in JSON. */
const asJson = (value: object) => JSON.parse(JSON.stringify(value))

/** Stores what the builder changed in a tool, and its tokens. Without `resolution`, that stays. */
export const editItem = async (
  tx: Transaction,
  item: ImportItem,
  { edits, tokens, resolution }: { edits: ImportEdits; tokens: number; resolution: StoredResolution | undefined },
): Promise<void> => {
  const { importId, position } = item
  const name = editedTool({ ...item, edits })?.name ?? ''
  await tx.importItem.update({
    where: { importId_position: { importId, position } },
    data: {
      edits: asJson(edits),
      tokens,
      ...(resolution !== undefined && { resolve: resolution.resolve ?? null }),
      ...(resolution?.comparison !== undefined && { comparison: asJson(resolution.comparison) }),
      searchText: searchTextOf(item, name),
    },
  })
}

/** Adds up the items of an import. */
export const sumItems = async (tx: Transaction, importId: string): Promise<ImportTotals> => {
  const [usable, chosen, refused] = await Promise.all([
    tx.importItem.aggregate({ where: { importId, reason: null }, _count: true, _sum: { tokens: true } }),
    tx.importItem.aggregate({ where: { importId, selected: true }, _count: true, _sum: { tokens: true } }),
    tx.importItem.count({ where: { importId, reason: { not: null }, state: { not: 'gone' } } }),
  ])
  return {
    tools: usable._count,
    tokens: usable._sum.tokens ?? 0,
    refused,
    selected: chosen._count,
    selectedTokens: chosen._sum.tokens ?? 0,
  }
}
