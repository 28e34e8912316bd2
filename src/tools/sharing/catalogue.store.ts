import type { Database } from '../../lib/db/client.ts'
import { containing } from '../../lib/db/containing.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import type { Tool, ToolkitCard } from '../tool.ts'
import { toToolkit } from '../toolkits.store.ts'
import { toTool } from '../tools.store.ts'

/** Whose toolkits: those of these organizations, or the public ones of all. */
export type Shelf = { kind: 'own'; organizationIds: readonly string[] } | { kind: 'public' }

const whereOf = (shelf: Shelf) =>
  shelf.kind === 'public'
    ? { visibility: 'public' as const, snapshotOfId: null }
    : { organizationId: { in: [...shelf.organizationIds] }, snapshotOfId: null }

const WITH_REST = { organization: { select: { name: true } }, _count: { select: { tools: true } } } as const

type CardRow = Parameters<typeof toToolkit>[0] & { organization: { name: string }; _count: { tools: number } }

const toCard = ({ organization, _count, ...row }: CardRow): ToolkitCard => ({
  ...toToolkit(row),
  organizationName: organization.name,
  tools: _count.tools,
})

const matching = (db: Database, search: string) =>
  search === '' ? {} : { OR: [{ title: containing(db, search) }, { description: containing(db, search) }] }

/** Snapshots are on no shelf. `search` is looked for in title and description; empty: all. */
export const listToolkitCards = async (
  db: Database,
  shelf: Shelf,
  search: string,
  page: IdPage,
): Promise<ToolkitCard[]> => {
  const { where, ...rest } = idPageQuery(page)
  const rows = await db.toolkit.findMany({
    where: { AND: [whereOf(shelf), matching(db, search), where] },
    ...rest,
    include: WITH_REST,
  })
  return rows.map(toCard)
}

export const findToolkitCard = async (db: Database, shelf: Shelf, id: string): Promise<ToolkitCard | undefined> => {
  const row = await db.toolkit.findFirst({ where: { AND: [whereOf(shelf), { id }] }, include: WITH_REST })
  return row === null ? undefined : toCard(row)
}

/** Tools of a toolkit, by name; `search` is looked for in name, title and description. */
export const listToolsMatching = async (
  db: Database,
  toolkitId: string,
  search: string,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<Tool[]> => {
  const found = containing(db, search)
  const rows = await db.tool.findMany({
    where: {
      toolkitId,
      ...(after === undefined ? {} : { name: { gt: after } }),
      ...(search === '' ? {} : { OR: [{ name: found }, { title: found }, { description: found }] }),
    },
    orderBy: { name: 'asc' },
    take: limit + 1,
  })
  return rows.map(toTool)
}

/** Of the toolkits that an organization edits: how many there are, and how many tools they hold together. */
export const countToolkitsAndTools = async (
  db: Database,
  organizationId: string,
): Promise<{ toolkits: number; tools: number }> => {
  const mine = { organizationId, snapshotOfId: null }
  const [toolkits, tools] = await Promise.all([
    db.toolkit.count({ where: mine }),
    db.tool.count({ where: { toolkit: mine } }),
  ])
  return { toolkits, tools }
}
