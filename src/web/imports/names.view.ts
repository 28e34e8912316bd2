import { editedTool, type Import, type ImportItem } from '../../imports/import.ts'
import { type ImportNaming, longNameOf, MAX_PREFIX_CHARS, type NameSource } from '../../imports/naming/naming.ts'
import { cutToolName, NAME_STYLES } from '../../imports/openapi/names.ts'
import { importPath } from './open-import.ts'
import { type ReviewQuery, reviewAddress } from './review-query.ts'

const SOURCE_TEXTS: Readonly<Record<NameSource, string>> = {
  operation_id: 'Operation ID',
  tag_and_operation_id: 'Tag and operation ID',
  method_and_path: 'Method and path',
}

const SOURCES = Object.entries(SOURCE_TEXTS).map(([value, text]) => ({ value, text }))
const STYLES = NAME_STYLES.map(value => ({ value, text: value }))

export type ListedNames = { items: readonly ImportItem[]; nextCursor: string | null }

/** Returns what the builder should know about a name. */
const toNotes = (item: ImportItem, naming: ImportNaming) => {
  if (!('tool' in item)) return []
  if (item.edits.name !== undefined) return [{ text: 'changed by you', tone: undefined }]
  const name = longNameOf({ ...item, generated: item.tool.name }, naming)
  const cut = cutToolName(name)
  return [
    ...(cut === name ? [] : [{ text: 'shortened', tone: 'warn' }]),
    ...(cut === editedTool(item)?.name ? [] : [{ text: 'made unique', tone: undefined }]),
  ]
}

/** Returns the tab with the names of new tools. `typed` is a naming that was refused. */
export const toNames = (
  found: Import,
  { items, nextCursor }: ListedNames,
  { query, isAgain, typed }: { query: ReviewQuery; isAgain: boolean; typed: ImportNaming | undefined },
) => {
  const path = importPath(found)
  const { naming } = found.settings
  return {
    ...(typed ?? naming),
    address: reviewAddress(path, query),
    sources: SOURCES,
    styles: STYLES,
    maxPrefixChars: MAX_PREFIX_CHARS,
    isAgain,
    rows: items.map(item => ({
      id: `row-${item.position}`,
      source: item.operationId ?? item.key,
      name: editedTool(item)?.name,
      href: `${reviewAddress(path, { ...query, open: item.key })}#opened`,
      notes: toNotes(item, naming),
    })),
    next: nextCursor === null ? undefined : reviewAddress(path, { ...query, cursor: nextCursor }),
    first: query.cursor === undefined ? undefined : reviewAddress(path, { ...query, cursor: undefined }),
  }
}
