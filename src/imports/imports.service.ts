import type { Page, PageQuery } from '../lib/http/paging.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import type { Import, ImportItem, ImportItemState, ImportKind, ImportTotals } from './import.ts'

/** A document that the builder gave. */
export type GivenFile = { name: string; bytes: Uint8Array }

/**
 * What is imported. Without a kind, it is recognized. Of several files, the first is the main one; the others are the
 * documents that it refers to, or Postman environments.
 */
export type ImportSource = { kind?: ImportKind | undefined } & (
  | { text: string }
  | { url: string }
  | { files: readonly GivenFile[] }
)

/** Which items of an import: all fields apply. */
export type ItemFilter = {
  /** Part of the name, path, operationId or summary. */
  q?: string | undefined
  tag?: string | undefined
  /** Upper case. */
  method?: string | undefined
  state?: ImportItemState | undefined
  /** A rule that a finding of the tool is about. */
  rule?: string | undefined
  selected?: boolean | undefined
}

/** Which items: by key, or all that match a filter. */
export type ItemChoice = { keys: readonly string[] } | { filter: ItemFilter }

/** A change to an import. A missing field changes nothing; null removes. */
export type ImportChange = {
  select?: ItemChoice | undefined
  deselect?: ItemChoice | undefined
  /** By key. */
  items?:
    | Readonly<
        Record<
          string,
          { name?: string | null; description?: string | null; resolve?: 'mine' | 'theirs' | null } | undefined
        >
      >
    | undefined
  settings?:
    | {
        server?: string | { newName: string } | null | undefined
        baseUrls?: Readonly<Record<string, string | null>> | undefined
        variables?: Readonly<Record<string, string | null>> | undefined
        /** Write-only. */
        secrets?: Readonly<Record<string, string | null>> | undefined
      }
    | undefined
  /** Origins whose documents may be fetched. The source is then read again. */
  fetch?: readonly string[] | undefined
}

/** The reviews of sources. Each function throws `not_found` for people who may not build in the toolkit's organization. */
export type ImportService = {
  /** Starts to read a source, and returns the import at once, in the state `reading`. */
  startImport: (actor: Actor, toolkitId: string, source: ImportSource) => Promise<Import>
  getImport: (actor: Actor, id: string) => Promise<Import & { totals: ImportTotals }>
  /** Lists the unfinished and applied imports of a toolkit, newest first. */
  listImports: (actor: Actor, toolkitId: string) => Promise<Import[]>
  listItems: (actor: Actor, id: string, filter: ItemFilter, page: PageQuery) => Promise<Page<ImportItem>>
  getItem: (actor: Actor, id: string, key: string) => Promise<ImportItem>
  /** Throws `conflict` if the import has been applied. */
  changeImport: (actor: Actor, id: string, change: ImportChange) => Promise<Import & { totals: ImportTotals }>
  /** Stops reading, and discards what was read. */
  removeImport: (actor: Actor, id: string) => Promise<void>
}
