import { readResponseSizes } from '../history/response-sizes.store.ts'
import { listMostUsed } from '../history/tool-days.store.ts'
import type { Transaction } from '../lib/db/client.ts'
import { withoutNulls } from '../lib/kernel/missing.ts'
import { listGlobals } from './globals/globals.store.ts'
import type { Presentation, Server, ServerBlueprint, ServerUse } from './server.ts'
import { findServerOfAnybody } from './servers.store.ts'
import type { ListingBasis } from './settings/cut-result-listing.ts'
import { listAllInstances, listLimitedInstances } from './tools/instances.store.ts'

const listToolkitsOfInstances = async (tx: Transaction, serverId: string): Promise<ServerBlueprint['toolkits']> => {
  const rows = await tx.toolkit.findMany({
    where: { tools: { some: { instances: { some: { serverId } } } } },
    select: { id: true, title: true, description: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(withoutNulls)
}

/** Presentations that may show the tools by toolkit. */
const WITH_GROUPS: ReadonlySet<Presentation> = new Set(['grouped', 'search', 'auto'])
/** Presentations that may show which tools are used most. */
const WITH_SEARCH: ReadonlySet<Presentation> = new Set(['search', 'auto'])

const readUse = async (
  tx: Transaction,
  { id, cutResultTools, presentation }: Server,
  now: Date,
): Promise<ServerUse> => {
  const upstreams = await tx.upstream.findMany({
    where: { serverId: id, isEnabled: true },
    select: { responseTokens: true },
  })
  const needsSizes = cutResultTools === 'auto' && upstreams.length === 0
  return {
    upstreams: upstreams.map(({ responseTokens }) => ({
      hasBudgets: Object.values(responseTokens ?? {}).some(tokens => Number(tokens) > 0),
    })),
    sizes: needsSizes ? await readResponseSizes(tx, id, now) : undefined,
    mostUsed: WITH_SEARCH.has(presentation) ? await listMostUsed(tx, id, now) : [],
  }
}

/**
 * Reads everything the runtime needs to compile a server. Does not check access. Returns undefined if the server does
 * not exist. `presentation` replaces the server's own.
 */
export const readBlueprint = async (
  tx: Transaction,
  serverId: string,
  presentation?: Presentation,
): Promise<ServerBlueprint | undefined> => {
  const server = await findServerOfAnybody(tx, serverId)
  if (server === undefined) return undefined
  const shown = { ...server, presentation: presentation ?? server.presentation }
  const [globals, instances, toolkits, use] = await Promise.all([
    listGlobals(tx, serverId),
    listAllInstances(tx, serverId),
    WITH_GROUPS.has(shown.presentation) ? listToolkitsOfInstances(tx, serverId) : [],
    readUse(tx, shown, new Date()),
  ])
  return { server: shown, globals, instances, toolkits, use }
}

/**
 * Reads what decides which tools for cut results a server lists, without the definitions of its tools. Does not check
 * access. Returns undefined if the server does not exist.
 */
export const readListingBasis = async (tx: Transaction, serverId: string): Promise<ListingBasis | undefined> => {
  const server = await findServerOfAnybody(tx, serverId)
  if (server === undefined) return undefined
  const [instances, use] = await Promise.all([listLimitedInstances(tx, serverId), readUse(tx, server, new Date())])
  return { server, instances, use }
}
