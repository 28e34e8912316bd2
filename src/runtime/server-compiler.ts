import type { Database } from '../lib/db/client.ts'
import type { Passthroughs } from '../passthrough/route/passthroughs.ts'
import { readBlueprint, readListingBasis } from '../servers/blueprint.store.ts'
import type { ServerBlueprint } from '../servers/server.ts'
import { type CutResultListing, decideListing } from '../servers/settings/cut-result-listing.ts'
import { type PresentingParts, presentTools } from '../tool-search/present-tools.ts'
import type { UpstreamCatalogues } from '../upstreams/catalogue/catalogues.ts'
import type { UpstreamOffers } from '../upstreams/catalogue/upstream-offers.ts'
import type { UpstreamConnections } from '../upstreams/connection/upstream-connections.ts'
import type { UpstreamReviews } from '../upstreams/review/upstream-reviews.ts'
import type { UpstreamLoading } from '../upstreams/upstream-loading.ts'
import type { CompiledServer, PresentedServers } from './call/compiled-server.ts'
import { compilePassthrough } from './compile-passthrough.ts'
import { compileServer, type ServerParts } from './compile-server.ts'
import type { UpstreamSources } from './compile-upstream-tools.ts'
import type { ListUpkeep } from './list-upkeep.ts'

type CompilingParts = ServerParts & PresentingParts

/** Compiles a server and applies its presentation. */
const compileBlueprint = async (
  blueprint: ServerBlueprint,
  sources: UpstreamSources,
  parts: CompilingParts,
): Promise<CompiledServer> => presentTools(await compileServer(blueprint, sources, parts), blueprint.server, parts)

export type ServerCompilerParts = Omit<CompilingParts, 'onSkipped' | 'onCut'> & {
  db: Database
  listUpkeep: Pick<ListUpkeep, 'noteCompiled' | 'onCut'>
  upstreamConnections: Pick<UpstreamConnections, 'sync'>
  upstreamCatalogues: Pick<UpstreamCatalogues, 'list'>
  upstreamReviews: Pick<UpstreamReviews, 'listLiveSources' | 'withApprovedTools'>
  upstreamOffers: Pick<UpstreamOffers, 'listPresented'>
  passthroughs: Pick<Passthroughs, 'routeOf' | 'forget'>
  upstreamLoading: Pick<UpstreamLoading, 'loadPassedOnTo'>
  onSkipped: (serverId: string, tool: string, reason: string) => void
}

/** Compiles servers from the database, for calls or for display. */
export const createServerCompiler = (parts: ServerCompilerParts) => {
  const { db } = parts
  /** Options for compiling a server for display, without log entries or requests. */
  const silent = { ...parts, embeddings: undefined, onSkipped: () => {}, onCut: async () => true }

  /** Returns the upstreams whose catalogue is known, without waiting for the others. */
  const listSources = async (serverId: string): Promise<UpstreamSources> => {
    const upstreams = (await parts.upstreamConnections.sync(serverId)).filter(({ isEnabled }) => isEnabled)
    const known = await parts.upstreamCatalogues.list(upstreams)
    const sources = upstreams.flatMap(upstream => {
      const stored = known.get(upstream.id)
      return stored === undefined ? [] : { upstream, stored }
    })
    return { sources, absent: upstreams.filter(({ id }) => !known.has(id)) }
  }

  const findPassthrough = async (serverId: string) => {
    const route = parts.passthroughs.routeOf(serverId, await parts.upstreamLoading.loadPassedOnTo(serverId))
    return compilePassthrough(serverId, route, parts.recorder)
  }

  const compile = async (serverId: string): Promise<CompiledServer | undefined> => {
    const blueprint = await readBlueprint(db, serverId)
    if (blueprint === undefined) return undefined
    const passesOn = blueprint.server.presentation === 'passthrough'
    if (!passesOn) parts.passthroughs.forget(serverId)
    const passthrough = passesOn ? await findPassthrough(serverId) : undefined
    const known = await listSources(serverId)
    const sources = blueprint.server.reviewUpstreamChanges
      ? { ...known, sources: await parts.upstreamReviews.withApprovedTools(known.sources) }
      : known
    const onSkipped = (tool: string, reason: string) => parts.onSkipped(serverId, tool, reason)
    const { onCut, noteCompiled } = parts.listUpkeep
    const compiled = await compileBlueprint(blueprint, sources, { ...parts, onSkipped, onCut })
    if (compiled.basis !== undefined) noteCompiled(serverId, compiled.basis)
    return { ...compiled, passthrough }
  }

  /** Returns what is stored about upstreams, without sending requests to them. */
  const listKnownSources = async (serverId: string): Promise<UpstreamSources> => {
    const sources = await parts.upstreamReviews.listLiveSources(serverId)
    const presented = await parts.upstreamOffers.listPresented(serverId)
    const absent = presented.filter(({ hasCatalogue, upstream }) => !hasCatalogue && upstream.isEnabled)
    return { sources, absent: absent.map(({ upstream }) => upstream) }
  }

  /** Compiles a server for display, once for each presentation that has lists. Does not check access. */
  const compilePresented = async (serverId: string): Promise<PresentedServers | undefined> => {
    const forGroups = await readBlueprint(db, serverId, 'grouped')
    const blueprint = await readBlueprint(db, serverId)
    if (blueprint === undefined || forGroups === undefined) return undefined
    const { server } = blueprint
    const sources = await listKnownSources(serverId)
    const { toolkits } = forGroups
    const shown = { ...blueprint, toolkits, server: { ...server, presentation: 'flat' } } as const
    const flat = await compileServer(shown, sources, silent)
    const grouped = await compileServer(forGroups, sources, silent)
    const search = await presentTools(flat, { ...server, presentation: 'search' }, silent)
    const shownAs = server.presentation === 'auto' ? (await presentTools(flat, server, silent)).shownAs : undefined
    return { flat, grouped, search, shownAs }
  }

  return {
    /** Compiles a server for the registry. Returns undefined if the server does not exist. */
    compile,
    compilePresented,
    /**
     * Returns the presentation that `auto` selects for a server, and the reason. Returns undefined if the server does
     * not exist. Does not check access.
     */
    findShownAs: async (serverId: string): Promise<CompiledServer['shownAs']> => {
      const blueprint = await readBlueprint(db, serverId, 'auto')
      return blueprint && (await compileBlueprint(blueprint, await listKnownSources(serverId), silent)).shownAs
    },
    /** Returns whether the tools for cut results are listed, and why. Does not check access. */
    findCutResultListing: async (serverId: string): Promise<CutResultListing | undefined> => {
      const basis = await readListingBasis(db, serverId)
      return basis && decideListing(basis, parts.isKnownSmall)
    },
  }
}
