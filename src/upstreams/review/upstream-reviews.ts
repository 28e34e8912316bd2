import type { Database, Transaction } from '../../lib/db/client.ts'
import { isUniqueViolation } from '../../lib/db/failures.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { findCurrentCatalogue } from '../catalogue/catalogue.store.ts'
import type { CatalogueItem, StoredCatalogue } from '../catalogue/catalogue.ts'
import type { UpstreamCatalogues } from '../catalogue/catalogues.ts'
import { listAllowedTools, type UpstreamSource } from '../catalogue/present-tools.ts'
import { type GetServerFor, getUpstreamFor } from '../get-upstream.ts'
import type { Upstream } from '../upstream.ts'
import { auditUpstream, describeReviewed, type NamedServer } from '../upstream-audit.ts'
import { isServerReviewed, listUpstreamsOfAnybody } from '../upstreams.store.ts'
import {
  listApprovedDefinitions,
  listApprovedHashes,
  putApprovals,
  removeReviews,
  removeStaleApprovals,
} from './approvals.store.ts'
import { listRejectedHashes, putRejections, removeRejections, removeStaleRejections } from './rejections.store.ts'
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

/**
 * The tools whose new definitions wait for a decision, and those whose new definitions were rejected. `version` changes
 * whenever `waiting` changes.
 */
export type UpstreamReview = {
  isReviewed: boolean
  version: string
  waiting: readonly PendingTool[]
  rejected: readonly PendingTool[]
}

/**
 * What to decide on: single tools, identified by the hashes of name and shown definition, or the shown version. `isRejected`:
 * the tools were shown as rejected. Otherwise, they were shown as waiting.
 */
export type Decision =
  | { tools: readonly { nameHash: string; hash: string }[]; isRejected?: boolean }
  | { version: string }

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()

const notReviewed = () =>
  new AppError('conflict', 'There is nothing to approve: this server applies changes to its MCP servers immediately.')
const changedMeanwhile = () =>
  new AppError('conflict', 'The pending changes are different now. Review them again.', {
    errors: [{ path: 'version', message: 'is out of date' }],
  })

/** A source with the tools that clients see. `pending` are all others, whether rejected or not. */
type ReviewedSource = { source: UpstreamSource; live: CatalogueItem[]; pending: readonly PendingTool[] }

const listReviewed = async (tx: Transaction, sources: readonly UpstreamSource[]): Promise<ReviewedSource[]> => {
  const ids = sources.map(({ upstream }) => upstream.id)
  const hashes = ids.length === 0 ? NOTHING : await listApprovedHashes(tx, ids)
  const reviewed = []
  for (const source of sources) {
    const { id } = source.upstream
    const tools = classifyTools(listAllowedTools(source), hashes.get(id) ?? NOTHING)
    const changed = tools.flatMap(({ nameHash, status }) => (status === 'changed' ? nameHash : []))
    const { live, waiting } = splitByApproval(tools, await listApprovedDefinitions(tx, id, changed))
    reviewed.push({ source, live, pending: waiting })
  }
  return reviewed
}

/** Splits the pending tools by whether they are rejected. Lists for clients do not need that. */
const listDecidable = async (tx: Transaction, reviewed: readonly ReviewedSource[]) => {
  const ids = reviewed.flatMap(({ source, pending }) => (pending.length === 0 ? [] : source.upstream.id))
  const rejections = ids.length === 0 ? NOTHING : await listRejectedHashes(tx, ids)
  return reviewed.map(({ source, live, pending }) => {
    const own = rejections.get(source.upstream.id)
    const isRejected = ({ name, hash }: PendingTool) => own?.get(hashOfName(name)) === hash
    const [rejected, waiting] = [pending.filter(isRejected), pending.filter(tool => !isRejected(tool))]
    return { source, live, waiting, rejected }
  })
}

const namesOf = ({ catalogue }: StoredCatalogue): string[] => catalogue.tools.map(({ name }) => name)

/** Approves the tools that clients see now. Used when review is turned on. */
export const approveCurrentTools = async (tx: Transaction, serverId: string): Promise<void> => {
  await removeReviews(tx, serverId)
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

/** The tools of one upstream to choose from. `decided` maps name hashes to definitions that are decided already. */
type Choice = {
  waiting: readonly PendingTool[]
  rejected: readonly PendingTool[]
  decided: ReadonlyMap<string, string>
}

/**
 * Returns the tools to decide on. Throws `conflict` if one differs from what was shown, also if somebody else has rejected
 * it meanwhile.
 */
const chooseTools = ({ waiting, rejected, decided }: Choice, input: Decision) => {
  if ('version' in input) {
    if (versionOf(waiting) !== input.version) throw changedMeanwhile()
    return waiting
  }
  const byName = new Map((input.isRejected ? rejected : waiting).map(tool => [hashOfName(tool.name), tool]))
  return input.tools.flatMap(({ nameHash, hash }) => {
    // The request was repeated.
    if (decided.get(nameHash) === hash) return []
    const tool = byName.get(nameHash)
    if (tool?.hash === hash) return tool
    throw changedMeanwhile()
  })
}

/** Stores a decision about tools of an upstream. Returns the tools, and the action for the audit log. */
type Decide = (
  tx: Transaction,
  review: { stored: StoredCatalogue | undefined; live: readonly CatalogueItem[] } & Omit<Choice, 'decided'>,
) => Promise<{ action: 'upstream.tools_approved' | 'upstream.tools_rejected'; chosen: readonly PendingTool[] }>

/**
 * Manages reviews of changes to upstreams. On a server with review turned on, clients see only approved tools: a
 * changed tool keeps its old definition, and a new tool stays hidden until a builder approves it. A rejected definition
 * does not wait any longer. Approvals and rejections are stored in the database and shared by all processes.
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

  /** Runs a decision about the pending tools of an upstream, and audits and announces it. Returns how many it covers. */
  const decide = async (actor: Actor, id: string, work: Decide): Promise<number> => {
    try {
      return await changes.commit(async (tx, announce) => {
        const { upstream, server } = await getUpstreamFor(getServerFor, tx, actor, id, 'build')
        if (!server.reviewUpstreamChanges) throw notReviewed()
        const stored = await findCurrentCatalogue(tx, upstream)
        const sources = stored === undefined ? [] : [{ upstream, stored }]
        const [reviewed] = await listDecidable(tx, await listReviewed(tx, sources))
        const { live, waiting, rejected } = reviewed ?? { live: [], waiting: [], rejected: [] }
        const { action, chosen } = await work(tx, { stored, live, waiting, rejected })
        if (chosen.length === 0) return 0
        await auditUpstream(tx, actor, server, action, upstream, describeReviewed(chosen.map(({ name }) => name)))
        announce({ type: 'upstream_changed', upstreamId: id, serverId: upstream.serverId })
        return chosen.length
      })
    } catch (error) {
      // A concurrent request decided on the same tools.
      throw isUniqueViolation(error) ? changedMeanwhile() : error
    }
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
      if (!server.reviewUpstreamChanges) return { isReviewed: false, version: versionOf([]), waiting: [], rejected: [] }
      const [reviewed] = await listDecidable(db, await listReviewed(db, await listSourcesOf([upstream])))
      const { waiting, rejected } = reviewed ?? { waiting: [], rejected: [] }
      return { isReviewed: true, version: versionOf(waiting), waiting, rejected }
    },

    /** Counts waiting tools by upstream. Omits upstreams without any. */
    countWaiting: async (actor: Actor, serverId: string): Promise<ReadonlyMap<string, number>> => {
      const server = await getServerFor(db, actor, serverId, 'read')
      if (!server.reviewUpstreamChanges) return new Map()
      const sources = await listSourcesOf(await listUpstreamsOfAnybody(db, serverId))
      const counts = (await listDecidable(db, await listReviewed(db, sources))).map(
        ({ source, waiting }) => [source.upstream.id, waiting.length] as const,
      )
      return new Map(counts.filter(([, count]) => count > 0))
    },

    /** Approves tools and returns their number. Throws `conflict` if they differ from what was shown. */
    approve: (actor: Actor, id: string, input: Decision): Promise<number> =>
      decide(actor, id, async (tx, { stored, waiting, rejected, live }) => {
        const decided = new Map(live.map(item => [hashOfName(item.name), hashOfDefinition(definitionOf(item))]))
        const chosen = chooseTools({ waiting, rejected, decided }, input)
        if (stored === undefined || chosen.length === 0) return { action: 'upstream.tools_approved', chosen: [] }
        await putApprovals(tx, id, chosen)
        await removeRejections(tx, id, chosen)
        const names = namesOf(stored)
        await removeStaleApprovals(tx, id, names)
        await removeStaleRejections(tx, id, names)
        return { action: 'upstream.tools_approved', chosen }
      }),

    /**
     * Rejects new definitions and returns the number of tools. Clients keep seeing the approved definition, if there is
     * one. Throws `conflict` if the tools differ from what was shown.
     */
    reject: (actor: Actor, id: string, input: Decision): Promise<number> =>
      decide(actor, id, async (tx, { stored, waiting, rejected }) => {
        const decided = new Map(rejected.map(({ name, hash }) => [hashOfName(name), hash]))
        const chosen = chooseTools({ waiting, rejected: [], decided }, input)
        if (stored === undefined || chosen.length === 0) return { action: 'upstream.tools_rejected', chosen: [] }
        await putRejections(tx, id, chosen)
        await removeStaleRejections(tx, id, namesOf(stored))
        return { action: 'upstream.tools_rejected', chosen }
      }),
  }
}

export type UpstreamReviews = ReturnType<typeof createUpstreamReviews>
