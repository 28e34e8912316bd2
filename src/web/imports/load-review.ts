import { CHANGE_PARTS } from '../../imports/again/compared-items.store.ts'
import type { ImportChanges } from '../../imports/again/import-changes.service.ts'
import type { ImportItem } from '../../imports/import.ts'
import type { ImportService } from '../../imports/imports.service.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { Choice } from './access.view.ts'
import { CHANGES_PER_PAGE, CHANGES_SHOWN, type ListedChanges, toChanges } from './changes.view.ts'
import { EXAMPLES_PER_RULE, MAX_RULES } from './findings.view.ts'
import { listFolders } from './import-folders.store.ts'
import type { ListedNames } from './names.view.ts'
import { importPath, type OpenedImport } from './open-import.ts'
import { type ListedOperations, ROWS_PER_PAGE } from './operations.view.ts'
import { isFiltered, type ReviewQuery, tagOf, toFilter } from './review-query.ts'

export type ReviewLoaderParts = {
  db: Database
  imports: Pick<ImportService, 'listItems' | 'getItem'>
  servers: Pick<ServerService, 'listServers'>
  importChanges: ImportChanges
}

const MAX_SERVERS_LISTED = 200

/** Loads what the tabs of a review show. */
export const createReviewLoader = ({ db, imports, importChanges, servers }: ReviewLoaderParts) => ({
  /** Counts the tools that the source changes. Undefined if it was not imported before. */
  countChanged: async ({ actor, found }: OpenedImport): Promise<number | undefined> => {
    const counts = await importChanges.countChanges(actor, found.id)
    return counts && CHANGE_PARTS.reduce((sum, part) => sum + counts[part], 0)
  },

  /** Returns what the source changes in tools. Undefined if it was not imported before. */
  findChanges: async ({ actor, found }: OpenedImport, query: ReviewQuery) => {
    const counts = await importChanges.countChanges(actor, found.id)
    if (counts === undefined) return undefined
    const limit = query.part === undefined ? CHANGES_SHOWN : CHANGES_PER_PAGE
    const after = query.part === undefined ? undefined : Number.parseInt(query.cursor ?? '-1', 10)
    const listed: ListedChanges[] = []
    for (const part of query.part === undefined ? CHANGE_PARTS : [query.part]) {
      const items = await importChanges.listChanges(actor, found.id, part, { limit: limit + 1, after })
      listed.push({ part, items: items.slice(0, limit), hasMore: items.length > limit })
    }
    return toChanges(counts, listed, query, importPath(found))
  },

  /** Lists operations, or only their tags if there are too many and neither a filter nor a tag is chosen. */
  listOperations: async ({ actor, found }: OpenedImport, query: ReviewQuery): Promise<ListedOperations> => {
    const { tools, refused } = found.totals
    const isLarge = tools + refused > ROWS_PER_PAGE
    const folders = isLarge ? await listFolders(db, found.id) : []
    const areClosed = isLarge && folders.length > 1 && tagOf(query) === undefined && !isFiltered(query)
    if (areClosed && query.cursor === undefined) return { folders, items: undefined, nextCursor: null }
    const page = { limit: ROWS_PER_PAGE, cursor: query.cursor }
    const { items, nextCursor } = await imports.listItems(actor, found.id, toFilter(query), page)
    return { folders, items, nextCursor }
  },

  /** Lists the new operations, which the naming applies to. */
  listNamed: ({ actor, found }: OpenedImport, { cursor }: ReviewQuery): Promise<ListedNames> =>
    imports.listItems(actor, found.id, { state: 'new', usable: true }, { limit: ROWS_PER_PAGE, cursor }),

  /** Lists a few operations for each rule of which a tool has a finding. */
  listExamples: async ({ actor, found }: OpenedImport): Promise<Map<string, readonly ImportItem[]>> => {
    const examples = new Map<string, readonly ImportItem[]>()
    for (const { rule } of (found.summary?.rules ?? []).slice(0, MAX_RULES)) {
      const page = { limit: EXAMPLES_PER_RULE, cursor: undefined }
      examples.set(rule, (await imports.listItems(actor, found.id, { rule }, page)).items)
    }
    return examples
  },

  /** Returns the opened operation. Undefined if none is opened, or if it does not exist. */
  findOpened: async ({ actor, found }: OpenedImport, { open }: ReviewQuery): Promise<ImportItem | undefined> => {
    if (open === undefined) return undefined
    try {
      return await imports.getItem(actor, found.id, open)
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return undefined
      throw error
    }
  },

  /** Lists the servers that the tools can be added to. */
  listServers: async (actor: Actor, organizationId: string): Promise<Choice[]> => {
    const found = await servers.listServers(actor, { limit: MAX_SERVERS_LISTED, afterId: undefined })
    return found.flatMap(server =>
      server.organizationId === organizationId && !('isClosed' in server)
        ? [{ value: server.id, text: server.name }]
        : [],
    )
  },
})
