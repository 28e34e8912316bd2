import type { Database, Transaction } from '../../lib/db/client.ts'
import { isUniqueViolation } from '../../lib/db/failures.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { findCurrentCatalogue } from '../catalogue/catalogue.store.ts'
import type { UpstreamCatalogues } from '../catalogue/catalogues.ts'
import { listAllowedTools, type UpstreamSource } from '../catalogue/present-tools.ts'
import { type GetServerFor, getUpstreamFor } from '../get-upstream.ts'
import type { Upstream } from '../upstream.ts'
import { auditUpstream, describeApproved, type NamedServer } from '../upstream-audit.ts'
import { isServerReviewed, listUpstreamsOfAnybody } from '../upstreams.store.ts'
import {
  listApprovedDefinitions,
  listApprovedHashes,
  putApprovals,
  removeApprovals,
  removeStaleApprovals,
} from './approvals.store.ts'
import {
  classifyTools,
  definitionOf,
  hashOfDefinition,
  hashOfName,
  type PendingTool,
  splitByApproval,
  versionOf,
} from './tool-review.ts'

export type UpstreamReviewParts = {
  db: Database
  changes: Changes
  catalogues: Pick<UpstreamCatalogues, 'find'>
  /** `reviewUpstreamChanges` is whether changes to the server's upstreams need approval. */
  getServerFor: GetServerFor<NamedServer & { reviewUpstreamChanges: boolean }>
}

/** `version` changes whenever `waiting` changes. */
export type UpstreamReview = { isReviewed: boolean; version: string; waiting: readonly PendingTool[] }

/** Approves single tools, identified by the hashes of name and shown definition, or everything in the shown version. */
export type Approval = { tools: readonly { nameHash: string; hash: string }[] } | { version: string }

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()

const notReviewed = () =>
  new AppError('conflict', 'There is nothing to approve: this server applies changes to its MCP servers immediately.')
const changedMeanwhile = () =>
  new AppError('conflict', 'The pending changes are different now. Review them again before you approve them.', {
    errors: [{ path: 'version', message: 'is out of date' }],
  })

const listReviewed = async (tx: Transaction, sources: readonly UpstreamSource[]) => {
  const ids = sources.map(({ upstream }) => upstream.id)
  const hashes = ids.length === 0 ? NOTHING : await listApprovedHashes(tx, ids)
  const reviewed = []
  for (const source of sources) {
    const { id } = source.upstream
    const tools = classifyTools(listAllowedTools(source), hashes.get(id) ?? NOTHING)
    const changed = tools.flatMap(({ nameHash, status }) => (status === 'changed' ? nameHash : []))
    reviewed.push({ source, ...splitByApproval(tools, await listApprovedDefinitions(tx, id, changed)) })
  }
  return reviewed
}

/** Approves the tools that clients see now. Used when review is turned on. */
export const approveCurrentTools = async (tx: Transaction, serverId: string): Promise<void> => {
  await removeApprovals(tx, serverId)
  for (const upstream of await listUpstreamsOfAnybody(tx, serverId)) {
    const stored = await findCurrentCatalogue(tx, upstream)
    const tools = stored === undefined ? [] : listAllowedTools({ upstream, stored })
    const approved = tools.map(item => {
      const after = definitionOf(item)
      return { name: item.name, hash: hashOfDefinition(after), after }
    })
    await putApprovals(tx, upstream.id, approved)
  }
}

/** Returns the tools to approve. Throws `conflict` if one differs from what was shown. */
const chooseTools = (waiting: readonly PendingTool[], live: ReadonlyMap<string, string>, input: Approval) => {
  if ('version' in input) {
    if (versionOf(waiting) !== input.version) throw changedMeanwhile()
    return waiting
  }
  const byName = new Map(waiting.map(tool => [hashOfName(tool.name), tool]))
  return input.tools.flatMap(({ nameHash, hash }) => {
    const tool = byName.get(nameHash)
    if (tool?.hash === hash) return tool
    // The request was repeated: the tool is already approved.
    if (tool === undefined && live.get(nameHash) === hash) return []
    throw changedMeanwhile()
  })
}

/**
 * Manages reviews of changes to upstreams. On a server with review turned on, clients see only approved tools: a
 * changed tool keeps its old definition, and a new tool stays hidden until a builder approves it. Approvals are stored
 * in the database and shared by all processes.
 */
export const createUpstreamReviews = ({ db, changes, catalogues, getServerFor }: UpstreamReviewParts) => {
  const listSourcesOf = async (upstreams: readonly Upstream[]): Promise<UpstreamSource[]> => {
    const stored = await catalogues.find(upstreams)
    return upstreams.flatMap(upstream => {
      const own = stored.get(upstream.id)
      return own === undefined ? [] : { upstream, stored: own }
    })
  }

  /** Returns the sources with their approved tools and without the upstream's instructions, which nobody reviews. */
  const withApprovedTools = async (sources: readonly UpstreamSource[]): Promise<UpstreamSource[]> => {
    const reviewed = await listReviewed(db, sources)
    return reviewed.map(({ source: { upstream, stored }, live }) => {
      const { instructions: _instructions, ...catalogue } = stored.catalogue
      return { upstream, stored: { ...stored, catalogue: { ...catalogue, tools: live } } }
    })
  }

  return {
    withApprovedTools,

    /** Returns what clients see, before name collisions are resolved. Never contacts an upstream. */
    listLiveSources: async (serverId: string): Promise<UpstreamSource[]> => {
      const upstreams = (await listUpstreamsOfAnybody(db, serverId)).filter(({ isEnabled }) => isEnabled)
      const sources = await listSourcesOf(upstreams)
      return (await isServerReviewed(db, serverId)) ? withApprovedTools(sources) : sources
    },

    getReview: async (actor: Actor, id: string): Promise<UpstreamReview> => {
      const { upstream, server } = await getUpstreamFor(getServerFor, db, actor, id, 'read')
      if (!server.reviewUpstreamChanges) return { isReviewed: false, version: versionOf([]), waiting: [] }
      const [reviewed] = await listReviewed(db, await listSourcesOf([upstream]))
      const waiting = reviewed?.waiting ?? []
      return { isReviewed: true, version: versionOf(waiting), waiting }
    },

    /** Counts waiting tools by upstream. Omits upstreams without any. */
    countWaiting: async (actor: Actor, serverId: string): Promise<ReadonlyMap<string, number>> => {
      const server = await getServerFor(db, actor, serverId, 'read')
      if (!server.reviewUpstreamChanges) return new Map()
      const sources = await listSourcesOf(await listUpstreamsOfAnybody(db, serverId))
      const counts = (await listReviewed(db, sources)).map(
        ({ source, waiting }) => [source.upstream.id, waiting.length] as const,
      )
      return new Map(counts.filter(([, count]) => count > 0))
    },

    /** Approves tools and returns their number. Throws `conflict` if they differ from what was shown. */
    approve: async (actor: Actor, id: string, input: Approval): Promise<number> => {
      try {
        return await changes.commit(async (tx, announce) => {
          const { upstream, server } = await getUpstreamFor(getServerFor, tx, actor, id, 'build')
          if (!server.reviewUpstreamChanges) throw notReviewed()
          const stored = await findCurrentCatalogue(tx, upstream)
          const [reviewed] = await listReviewed(tx, stored === undefined ? [] : [{ upstream, stored }])
          const { waiting, live } = reviewed ?? { waiting: [], live: [] }
          const hashes = new Map(live.map(item => [hashOfName(item.name), hashOfDefinition(definitionOf(item))]))
          const chosen = chooseTools(waiting, hashes, input)
          if (stored === undefined || chosen.length === 0) return 0
          await putApprovals(tx, id, chosen)
          const names = stored.catalogue.tools.map(({ name }) => name)
          await removeStaleApprovals(tx, id, names)
          const approved = describeApproved(chosen.map(({ name }) => name))
          await auditUpstream(tx, actor, server, 'upstream.tools_approved', upstream, approved)
          announce({ type: 'upstream_changed', upstreamId: id, serverId: upstream.serverId })
          return chosen.length
        })
      } catch (error) {
        // A concurrent request approved the same tools.
        throw isUniqueViolation(error) ? changedMeanwhile() : error
      }
    },
  }
}

export type UpstreamReviews = ReturnType<typeof createUpstreamReviews>
