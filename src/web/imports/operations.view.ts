import { type ImportItem, nameOfItem } from '../../imports/import.ts'
import { DUPLICATE_RULE } from '../../imports/preselection.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { ImportFolder } from './import-folders.store.ts'
import { isFiltered, type ReviewQuery, reviewAddress, tagOf, tagQuery } from './review-query.ts'

/** Operations on a page. More are in folders, of which one is open. */
export const ROWS_PER_PAGE = 100

/** Folders on a page. A description with more is searched. */
const MAX_FOLDERS = 300

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const UNTAGGED = 'Without a tag'

const toFindings = (item: ImportItem) => {
  if (!('tool' in item)) return undefined
  const shown = item.findings.filter(({ level, rule }) => level !== 'hint' && rule !== DUPLICATE_RULE)
  const levels = new Set(shown.map(({ level }) => level))
  const count = shown.length
  if (count === 0) return undefined
  return { text: formatCount(count, 'finding'), tone: levels.has('error') ? 'danger' : 'warn' }
}

/** The names that were typed and refused, with the reason, by key. */
export type TypedNames = { names: ReadonlyMap<string, string>; errors: ReadonlyMap<string, string> }
export const NOTHING_TYPED: TypedNames = { names: new Map(), errors: new Map() }

export const toRow = (item: ImportItem, query: ReviewQuery, path: string, { names, errors }: TypedNames) => {
  const { key, method, state, selected, deprecated } = item
  const isOpen = query.open === key
  return {
    id: `row-${item.position}`,
    key,
    method,
    path: item.path,
    href: `${reviewAddress(path, { ...query, open: key })}#opened`,
    isOpen,
    state,
    deprecated,
    isSelected: selected,
    ...('tool' in item
      ? {
          name: names.get(key) ?? nameOfItem(item) ?? item.tool.name,
          error: errors.get(key),
          tokens: formatNumber(item.tokens),
          findings: toFindings(item),
          notes: item.notes.length === 0 ? undefined : formatCount(item.notes.length, 'note'),
          isDuplicate: item.findings.some(({ rule }) => rule === DUPLICATE_RULE),
          isUnauthorized: item.unsupportedSecurity.length > 0,
        }
      : { reason: item.reason }),
  }
}

export const firstTagOf = ({ tags }: Pick<ImportItem, 'tags'>): string | undefined => tags[0]

const sumOf = (tag: string | undefined, items: readonly ImportItem[]): ImportFolder => {
  const tools = items.flatMap(item => ('tool' in item ? [item] : []))
  const selected = tools.filter(item => item.selected)
  return {
    tag,
    operations: tools.length,
    selected: selected.length,
    selectedTokens: selected.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

const toFolder = ({ tag, operations, selected, selectedTokens }: ImportFolder, id: number) => ({
  id: `folder-${id}`,
  tag: tag ?? '',
  name: tag ?? UNTAGGED,
  counts: operations === 0 ? '' : `${formatNumber(selected)} of ${formatNumber(operations)}`,
  tokens: selected === 0 ? '–' : formatNumber(selectedTokens),
  isEmpty: operations === 0,
  /** As an ARIA state. */
  checked: selected === 0 ? 'false' : selected === operations ? 'true' : 'mixed',
})

export type ListedOperations = {
  folders: readonly ImportFolder[]
  /** Undefined if only the folders are shown, because there are too many operations. */
  items: readonly ImportItem[] | undefined
  nextCursor: string | null
}

/** Returns the operations by tag: in open folders if all are shown, otherwise in closed ones of which one may be open. */
const toFolders = ({ folders, items }: ListedOperations, query: ReviewQuery, path: string, typed: TypedNames) => {
  const rowsOf = (some: readonly ImportItem[]) => some.map(item => toRow(item, query, path, typed))
  if (items !== undefined && tagOf(query) === undefined) {
    const groups = [...Map.groupBy(items, firstTagOf)]
    return groups.map(([tag, some], index) => ({
      ...toFolder(sumOf(tag, some), index),
      href: undefined,
      isOpen: true,
      rows: rowsOf(some),
    }))
  }
  const opened = tagOf(query)
  const isOpened = ({ tag = '' }: ImportFolder) => tag === opened
  return folders
    .filter((folder, index) => index < MAX_FOLDERS || isOpened(folder))
    .map((folder, index) => {
      const isOpen = isOpened(folder)
      return {
        ...toFolder(folder, index),
        href: reviewAddress(path, {
          ...query,
          cursor: undefined,
          ...tagQuery(isOpen ? undefined : (folder.tag ?? '')),
        }),
        isOpen,
        rows: isOpen ? rowsOf(items ?? []) : [],
      }
    })
}

const STATE_OPTIONS = [
  { value: '', text: 'All changes' },
  { value: 'new', text: 'New' },
  { value: 'changed', text: 'Changed' },
  { value: 'conflict', text: 'Conflict' },
  { value: 'gone', text: 'Gone' },
  { value: 'same', text: 'Unchanged' },
] as const

/** Returns a CSS selector of what changes on the page with each choice, apart from the rows themselves. */
const changingParts = (folders: readonly { id: string; rows: readonly unknown[] }[]): string =>
  [
    '#tabs',
    '#not-saved',
    ...folders.filter(({ rows }) => rows.length > 0).flatMap(({ id }) => [`#${id}-box`, `#${id}-name`]),
  ].join(',')

/** Returns the tab with the operations. */
export const toOperations = (
  listed: ListedOperations,
  query: ReviewQuery,
  { path, isAgain, hasDuplicates }: { path: string; isAgain: boolean; hasDuplicates: boolean },
  typed: TypedNames,
) => {
  const folders = toFolders(listed, query, path, typed)
  const { items, nextCursor } = listed
  return {
    folders,
    changing: changingParts(folders),
    refused: [...typed.errors].map(([key, text]) => ({ key, text })),
    isEmpty: items?.length === 0,
    moreFolders: listed.folders.length > MAX_FOLDERS ? formatNumber(listed.folders.length - MAX_FOLDERS) : undefined,
    isPart: isFiltered(query) || tagOf(query) !== undefined,
    next: nextCursor === null ? undefined : reviewAddress(path, { ...query, cursor: nextCursor }),
    first: query.cursor === undefined ? undefined : reviewAddress(path, { ...query, cursor: undefined }),
    all: reviewAddress(path, { view: 'operations', open: query.open }),
    address: reviewAddress(path, query),
    searchPath: path,
    query,
    methods: [{ value: '', text: 'All' }, ...METHODS.map(value => ({ value, text: value }))],
    states: isAgain ? STATE_OPTIONS : undefined,
    duplicates: hasDuplicates || query.rule === DUPLICATE_RULE ? DUPLICATE_RULE : undefined,
  }
}
