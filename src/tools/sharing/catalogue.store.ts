import type { Database, Rows } from '../../lib/db/client.ts'
import { containing } from '../../lib/db/containing.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { mapFound } from '../../lib/kernel/missing.ts'
import { templateOf } from '../stored-definition.ts'
import type { Tool, ToolkitCard } from '../tool.ts'
import { countToolkits, toToolkit } from '../toolkits.store.ts'
import { toTool } from '../tools.store.ts'

/** The toolkits to search: those of some organizations, or all public ones. */
export type ToolkitScope = { kind: 'own'; organizationIds: readonly string[] } | { kind: 'public' }

const whereOf = (scope: ToolkitScope) =>
  scope.kind === 'public'
    ? { visibility: 'public' as const, snapshotOfId: null }
    : { organizationId: { in: [...scope.organizationIds] }, snapshotOfId: null }

const WITH_REST = { organization: { select: { name: true } }, _count: { select: { tools: true } } } as const

type CardRow = Rows.Toolkit & { organization: { name: string }; _count: { tools: number } }

const toCard = ({ organization, _count, ...row }: CardRow): ToolkitCard => ({
  ...toToolkit(row),
  organizationName: organization.name,
  tools: _count.tools,
})

/** Searches the titles and descriptions of toolkits. An empty query matches all toolkits. */
export const toolkitsMatching = (db: Database, search: string) =>
  search === '' ? {} : { OR: [{ title: containing(db, search) }, { description: containing(db, search) }] }

/** Lists toolkits, excluding snapshots. */
export const listToolkitCards = async (
  db: Database,
  scope: ToolkitScope,
  search: string,
  page: IdPage,
): Promise<ToolkitCard[]> => {
  const rows = await db.toolkit.findMany({
    ...idPageQuery(page, { AND: [whereOf(scope), toolkitsMatching(db, search)] }),
    include: WITH_REST,
  })
  return rows.map(toCard)
}

export const findToolkitCard = async (
  db: Database,
  scope: ToolkitScope,
  id: string,
): Promise<ToolkitCard | undefined> =>
  mapFound(await db.toolkit.findFirst({ where: { AND: [whereOf(scope), { id }] }, include: WITH_REST }), toCard)

/** Searches the names, titles and descriptions of tools. An empty query matches all tools. */
export const toolsMatching = (db: Database, search: string) => {
  const found = containing(db, search)
  return search === '' ? {} : { OR: [{ name: found }, { title: found }, { description: found }] }
}

/** A page of tools sorted by name. */
export type NamePage = { limit: number; after: string | undefined }

/** Lists the matching tools of a toolkit by name. */
export const listToolsMatching = async (
  db: Database,
  toolkitId: string,
  search: string,
  { limit, after }: NamePage,
): Promise<Tool[]> => {
  const rows = await db.tool.findMany({
    where: {
      toolkitId,
      ...(after === undefined ? {} : { name: { gt: after } }),
      ...toolsMatching(db, search),
    },
    orderBy: { name: 'asc' },
    take: limit + 1,
  })
  return rows.map(toTool)
}

/** What a toolkit's list of tools is sorted by. */
export type ToolHead = { id: string; name: string; updatedAt: Date }

/** Lists all matching tools of a toolkit, sorted by name, without their definitions. */
export const listToolHeads = (db: Database, toolkitId: string, search: string): Promise<ToolHead[]> =>
  db.tool.findMany({
    where: { toolkitId, ...toolsMatching(db, search) },
    select: { id: true, name: true, updatedAt: true },
    orderBy: { name: 'asc' },
  })

/** Returns the request of each tool of a toolkit as one text, such as `GET https://…`, by the tool's ID. */
export const listRequestTexts = async (db: Database, toolkitId: string): Promise<ReadonlyMap<string, string>> => {
  const rows = await db.tool.findMany({ where: { toolkitId }, select: { id: true, definition: true } })
  return new Map(
    rows.map(({ id, definition }) => {
      const { method, url } = templateOf(definition)
      return [id, `${method} ${url}`]
    }),
  )
}

/** Counts the toolkits that an organization can edit, and their tools. */
export const countToolkitsAndTools = async (
  db: Database,
  organizationId: string,
): Promise<{ toolkits: number; tools: number }> => {
  const [toolkits, tools] = await Promise.all([
    countToolkits(db, organizationId),
    db.tool.count({ where: { toolkit: { organizationId, snapshotOfId: null } } }),
  ])
  return { toolkits, tools }
}
