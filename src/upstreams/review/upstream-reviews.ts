import type { Database, Transaction } from '../../lib/db/client.ts'
import { isUniqueViolation } from '../../lib/db/failures.ts'
import type { Changes } from '../../lib/events/changes.ts'
import { type Actor, assertMay, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Permission } from '../../lib/kernel/roles.ts'
import { findKeptCatalogue } from '../catalogue/catalogue.store.ts'
import type { UpstreamCatalogues } from '../catalogue/catalogues.ts'
import { listAllowedTools, type UpstreamSource } from '../catalogue/present-tools.ts'
import type { Upstream } from '../upstream.ts'
import { auditApprovedTools, type NamedServer } from '../upstream-audit.ts'
import { findUpstream, isServerReviewed, listUpstreamsOfAnybody } from '../upstreams.store.ts'
import {
  listApprovedDefinitions,
  listApprovedHashes,
  putApprovals,
  removeApprovals,
  removeApprovalsOfGone,
} from './approvals.store.ts'
import {
  definitionOf,
  hashOfDefinition,
  hashOfName,
  judgeTools,
  reviewTools,
  versionOf,
  type WaitingTool,
} from './tool-review.ts'

/** A server as this asks for it: `reviewUpstreamChanges` says whether its upstreams' changes wait. */
export type ReviewedServer = NamedServer & { reviewUpstreamChanges: boolean }

export type UpstreamReviewParts = {
  db: Database
  changes: Changes
  catalogues: Pick<UpstreamCatalogues, 'find'>
  /** The server, where the actor may do that with it; throws `not_found` where it is another organization's. */
  getServerFor: (tx: Transaction, actor: Actor, serverId: string, permission: Permission) => Promise<ReviewedServer>
}

/** What waits of one upstream. `version` changes with any of it. */
export type UpstreamReview = { isReviewed: boolean; version: string; waiting: readonly WaitingTool[] }

/** What is approved: some tools, by the hash of the name and as each was seen, or all that waited then. */
export type Approval = { tools: readonly { nameHash: string; hash: string }[] } | { version: string }

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()

const noUpstream = () => new AppError('not_found', 'There is no such upstream.')
const notReviewed = () =>
  new AppError('conflict', "Nothing waits here: this server takes its upstreams' changes as they come.")
const changedMeanwhile = () =>
  new AppError('conflict', 'What waits has changed since you looked at it: look at it again before you approve it.', {
    errors: [{ path: 'version', message: 'is not of what waits now' }],
  })

const listReviewed = async (tx: Transaction, sources: readonly UpstreamSource[]) => {
  const ids = sources.map(({ upstream }) => upstream.id)
  const hashes = ids.length === 0 ? NOTHING : await listApprovedHashes(tx, ids)
  const reviewed = []
  for (const source of sources) {
    const { id } = source.upstream
    const tools = judgeTools(listAllowedTools(source), hashes.get(id) ?? NOTHING)
    const changed = tools.flatMap(({ nameHash, verdict }) => (verdict === 'changed' ? nameHash : []))
    reviewed.push({ source, ...reviewTools(tools, await listApprovedDefinitions(tx, id, changed)) })
  }
  return reviewed
}

/** All that its upstreams were last heard to offer is approved, and nothing else: what was live stays so. */
export const approveWhatIsKept = async (tx: Transaction, serverId: string): Promise<void> => {
  await removeApprovals(tx, serverId)
  for (const upstream of await listUpstreamsOfAnybody(tx, serverId)) {
    const kept = await findKeptCatalogue(tx, upstream)
    const tools = kept === undefined ? [] : listAllowedTools({ upstream, kept })
    const approved = tools.map(item => {
      const after = definitionOf(item)
      return { name: item.name, hash: hashOfDefinition(after), after }
    })
    await putApprovals(tx, upstream.id, approved)
  }
}

/** Those of what waits that are meant; throws `conflict` where one is not any more what was seen. */
const chooseTools = (waiting: readonly WaitingTool[], live: ReadonlyMap<string, string>, wish: Approval) => {
  if ('version' in wish) {
    if (versionOf(waiting) !== wish.version) throw changedMeanwhile()
    return waiting
  }
  const byName = new Map(waiting.map(tool => [hashOfName(tool.name), tool]))
  return wish.tools.flatMap(({ nameHash, hash }) => {
    const tool = byName.get(nameHash)
    if (tool?.hash === hash) return tool
    // Sent twice, it is live already.
    if (tool === undefined && live.get(nameHash) === hash) return []
    throw changedMeanwhile()
  })
}

/**
 * Where a server has its upstreams' changes reviewed, what clients see of a tool is what a builder has approved: a
 * changed one stays as it was, and a new one out, until then. What is approved is in the database, for all processes.
 */
export const createUpstreamReviews = ({ db, changes, catalogues, getServerFor }: UpstreamReviewParts) => {
  const getFor = async (tx: Transaction, actor: Actor, id: string, permission: Permission) => {
    const found = await findUpstream(tx, id, organizationIdsOf(actor))
    if (found === undefined) throw noUpstream()
    assertMay(actor, found.organizationId, permission)
    const server = await getServerFor(tx, actor, found.upstream.serverId, permission)
    return { upstream: found.upstream, server }
  }

  const listSourcesOf = async (upstreams: readonly Upstream[]): Promise<UpstreamSource[]> => {
    const kept = await catalogues.find(upstreams)
    return upstreams.flatMap(upstream => {
      const own = kept.get(upstream.id)
      return own === undefined ? [] : { upstream, kept: own }
    })
  }

  /**
   * The sources as clients see them: with the tools that are approved, as they were approved, and without what an
   * upstream says of itself, which nobody is asked about.
   */
  const withApprovedTools = async (sources: readonly UpstreamSource[]): Promise<UpstreamSource[]> => {
    const reviewed = await listReviewed(db, sources)
    return reviewed.map(({ source: { upstream, kept }, live }) => {
      const { instructions: _instructions, ...catalogue } = kept.catalogue
      return { upstream, kept: { ...kept, catalogue: { ...catalogue, tools: live } } }
    })
  }

  return {
    withApprovedTools,

    /** What clients of a server see of its upstreams, before names meet; by the names of the upstreams. None is asked. */
    listLiveSources: async (serverId: string): Promise<UpstreamSource[]> => {
      const upstreams = (await listUpstreamsOfAnybody(db, serverId)).filter(({ isEnabled }) => isEnabled)
      const sources = await listSourcesOf(upstreams)
      return (await isServerReviewed(db, serverId)) ? withApprovedTools(sources) : sources
    },

    getReview: async (actor: Actor, id: string): Promise<UpstreamReview> => {
      const { upstream, server } = await getFor(db, actor, id, 'read')
      if (!server.reviewUpstreamChanges) return { isReviewed: false, version: versionOf([]), waiting: [] }
      const [reviewed] = await listReviewed(db, await listSourcesOf([upstream]))
      const waiting = reviewed?.waiting ?? []
      return { isReviewed: true, version: versionOf(waiting), waiting }
    },

    /** By upstream, how many tools wait; those of which none does are left out. */
    countWaiting: async (actor: Actor, serverId: string): Promise<ReadonlyMap<string, number>> => {
      const server = await getServerFor(db, actor, serverId, 'read')
      if (!server.reviewUpstreamChanges) return new Map()
      const sources = await listSourcesOf(await listUpstreamsOfAnybody(db, serverId))
      const counts = (await listReviewed(db, sources)).map(
        ({ source, waiting }) => [source.upstream.id, waiting.length] as const,
      )
      return new Map(counts.filter(([, count]) => count > 0))
    },

    /** Makes what waits live; answers how much of it. Throws `conflict` where it is not any more what was seen. */
    approve: async (actor: Actor, id: string, wish: Approval): Promise<number> => {
      try {
        return await changes.commit(async (tx, announce) => {
          const { upstream, server } = await getFor(tx, actor, id, 'build')
          if (!server.reviewUpstreamChanges) throw notReviewed()
          const kept = await findKeptCatalogue(tx, upstream)
          const [reviewed] = await listReviewed(tx, kept === undefined ? [] : [{ upstream, kept }])
          const { waiting, live } = reviewed ?? { waiting: [], live: [] }
          const hashes = new Map(live.map(item => [hashOfName(item.name), hashOfDefinition(definitionOf(item))]))
          const chosen = chooseTools(waiting, hashes, wish)
          if (kept === undefined || chosen.length === 0) return 0
          await putApprovals(tx, id, chosen)
          const names = kept.catalogue.tools.map(({ name }) => name)
          await removeApprovalsOfGone(tx, id, names)
          await auditApprovedTools(tx, actor, server, { upstream, tools: chosen.map(({ name }) => name) })
          announce({ type: 'upstream_changed', upstreamId: id, serverId: upstream.serverId })
          return chosen.length
        })
      } catch (error) {
        // Somebody else approves the same at this moment.
        throw isUniqueViolation(error) ? changedMeanwhile() : error
      }
    },
  }
}

export type UpstreamReviews = ReturnType<typeof createUpstreamReviews>
