import type { Database, Transaction } from '../../lib/db/client.ts'
import { withoutNulls } from '../../lib/kernel/missing.ts'
import type { DefaultBinding } from '../../templates/check-value.ts'
import { toolkitsMatching, toolsMatching } from '../../tools/sharing/catalogue.store.ts'
import { defaultsOf, problemOf, templateOf } from '../../tools/stored-definition.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { toTool } from '../../tools/tools.store.ts'
import { onlyCallerShown, policyOf, type User } from '../access/access.ts'
import { openTo } from '../access/open-to.store.ts'
import { writtenOriginOf } from '../bindings/taken-keys.ts'
import type { Server } from '../server.ts'
import { toServer, WITH_USERS } from '../servers.store.ts'

/**
 * A toolkit whose tools can be added to a server. Either the server already uses it or it belongs to the server's
 * organization.
 */
export type OfferedToolkit = {
  id: string
  title: string
  /** Whether this is a snapshot of another organization's toolkit. */
  isSnapshot: boolean
  isInUse: boolean
  tools: number
}

/** Maximum number of toolkits shown at once. The tools of further toolkits can be added from the toolkit's own page. */
const MAX_OFFERED = 500

type Holder = Pick<Server, 'id' | 'organizationId'>

/** Lists the IDs of the toolkits that the server has snapshots of. */
const listCopiedIds = async (tx: Transaction, serverId: string): Promise<string[]> => {
  const copies = await tx.toolkit.findMany({ where: { serverId }, select: { snapshotOfId: true } })
  return copies.flatMap(({ snapshotOfId }) => snapshotOfId ?? [])
}

/**
 * Matches the organization's own toolkits, except those that the server has a snapshot of (see `findToolForServer`).
 */
const ownWithoutCopies = (organizationId: string, copiedIds: readonly string[]) => ({
  organizationId,
  snapshotOfId: null,
  NOT: { id: { in: [...copiedIds] } },
})

export const listOfferedToolkits = async (tx: Transaction, server: Holder): Promise<OfferedToolkit[]> => {
  const copiedIds = await listCopiedIds(tx, server.id)
  const rows = await tx.toolkit.findMany({
    where: { OR: [{ serverId: server.id }, ownWithoutCopies(server.organizationId, copiedIds)] },
    select: {
      id: true,
      title: true,
      snapshotOfId: true,
      _count: { select: { tools: true } },
      uses: { where: { serverId: server.id }, select: { id: true } },
    },
    orderBy: { title: 'asc' },
    take: MAX_OFFERED,
  })
  return rows.map(({ id, title, snapshotOfId, _count, uses }) => ({
    id,
    title,
    isSnapshot: snapshotOfId !== null,
    isInUse: uses.length > 0,
    tools: _count.tools,
  }))
}

export type AddableToolkit = {
  id: string
  title: string
  description: string | undefined
  organizationName: string
  isOwn: boolean
  tools: number
}

/**
 * Lists the organization's own toolkits and all public ones, sorted by title, except those that the server uses.
 * Searches title and description. An empty search matches all toolkits.
 */
export const listAddableToolkits = async (
  db: Database,
  server: Holder,
  { search, skip, take }: { search: string; skip: number; take: number },
): Promise<{ toolkits: AddableToolkit[]; total: number }> => {
  const where = {
    AND: [
      {
        snapshotOfId: null,
        uses: { none: { serverId: server.id } },
        NOT: { id: { in: await listCopiedIds(db, server.id) } },
      },
      { OR: [{ organizationId: server.organizationId }, { visibility: 'public' as const }] },
      toolkitsMatching(db, search),
    ],
  }
  const [total, rows] = await Promise.all([
    db.toolkit.count({ where }),
    db.toolkit.findMany({
      where,
      orderBy: [{ title: 'asc' }, { id: 'asc' }],
      skip,
      take,
      select: {
        id: true,
        title: true,
        description: true,
        organizationId: true,
        organization: { select: { name: true } },
        _count: { select: { tools: true } },
      },
    }),
  ])
  const toolkits = rows.map(({ organizationId, organization, _count, ...row }) => ({
    ...withoutNulls(row),
    organizationName: organization.name,
    isOwn: organizationId === server.organizationId,
    tools: _count.tools,
  }))
  return { toolkits, total }
}

export type OfferedTool = {
  id: string
  name: string
  title: string | undefined
  description: string | undefined
  toolkitId: string
  /** The parameters with a default binding. */
  defaults: readonly { parameter: string; binding: DefaultBinding }[]
  /** The origin that the tool calls; undefined if a parameter decides it. */
  origin: string | undefined
  /** Names of the tool's instances on the server. */
  atWorkAs: readonly string[]
  /** Why the tool cannot be added until it is fixed. */
  problem: string | undefined
}

const listDefaults = (definition: unknown): OfferedTool['defaults'] =>
  Object.entries(defaultsOf(definition).parameters).flatMap(([parameter, { binding }]) =>
    binding === undefined ? [] : [{ parameter, binding }],
  )

/** Lists tools, sorted by toolkit and name. Searches name, title and description. An empty search matches all tools. */
export const listOfferedTools = async (
  db: Database,
  serverId: string,
  { toolkitIds, search, skip, take }: { toolkitIds: readonly string[]; search: string; skip: number; take: number },
): Promise<{ tools: OfferedTool[]; total: number }> => {
  const where = { toolkitId: { in: [...toolkitIds] }, ...toolsMatching(db, search) }
  const [total, rows] = await Promise.all([
    db.tool.count({ where }),
    db.tool.findMany({
      where,
      orderBy: [{ toolkit: { title: 'asc' } }, { toolkitId: 'asc' }, { name: 'asc' }],
      skip,
      take,
      select: {
        id: true,
        name: true,
        title: true,
        description: true,
        toolkitId: true,
        definition: true,
        instances: { where: { serverId }, select: { name: true }, orderBy: { name: 'asc' } },
      },
    }),
  ])
  const tools = rows.map(({ instances, definition, ...row }) => ({
    ...withoutNulls(row),
    defaults: listDefaults(definition),
    origin: writtenOriginOf(templateOf(definition).url),
    problem: problemOf(definition),
    atWorkAs: instances.map(({ name }) => name),
  }))
  return { tools, total }
}

/** `isForeign` is whether the tool is a copy of another organization's. */
export type PickedTool = { tool: ToolDefinition; isForeign: boolean }

/** Returns the picked tools by ID. The result contains no entry for an unknown ID. */
export const listPickedTools = async (
  tx: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PickedTool>> => {
  const rows = await tx.tool.findMany({ where: { id: { in: [...ids] } } })
  return new Map(rows.map(row => [row.id, { tool: toTool(row), isForeign: row.originId !== null }]))
}

/** An instance of a tool, and its server. */
export type ToolOffer = {
  instanceId: string
  serverId: string
  serverName: string
  ownerId: string
  name: string
  /** The only caller whose calls the user may see. Undefined if they may see all calls. */
  onlyCaller: string | undefined
  /** Parameters that somebody has bound, also to the model. */
  bound: readonly string[]
}

/** Lists the instances of a tool on the servers of a user's organizations that they may use, sorted by server name. */
export const listToolOffers = async (tx: Transaction, toolId: string, user: User): Promise<ToolOffer[]> => {
  const rows = await tx.instance.findMany({
    where: { toolId, server: { ...openTo(user), removedAt: null } },
    include: { server: { include: WITH_USERS }, bindings: { select: { parameter: true } } },
    orderBy: [{ server: { name: 'asc' } }, { id: 'asc' }],
  })
  return rows.map(({ id, name, server, bindings }) => ({
    instanceId: id,
    serverId: server.id,
    serverName: server.name,
    ownerId: server.ownerId,
    name,
    onlyCaller: onlyCallerShown(policyOf(toServer(server)), user),
    bound: bindings.map(({ parameter }) => parameter),
  }))
}
