import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CatalogueItem } from '../catalogue/catalogue.ts'
import type { AskableClient, SessionPeer } from '../connection/call-link.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { createConnectionPool, type PooledConnection } from '../connection/connection-pool.ts'
import type { ClientSetup } from '../connection/open-connection.ts'
import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError, upstreamGone } from '../connection/upstream-error.ts'
import { isPerCaller } from '../upstream.ts'
import { assertSupported } from './input-requests.ts'
import { maskTokens } from './mask-tokens.ts'
import type { Pauses } from './send-with-link.ts'

/** Maximum number of connections per upstream. */
const MAX_DEDICATED_CONNECTIONS = 50
/** Maximum number of connections per user. All anonymous callers count as one user. */
const MAX_PER_USER = 25
/** Maximum number of processes to all upstreams, of one user in an organization, of an organization, and in total. */
const MAX_PROCESSES = { user: 25, organization: 50, all: 100 }
const MAX_OPEN_QUESTIONS = 20

export type DedicatedConnection = {
  connection: UpstreamConnection
  /** Pauses the timeouts of requests in progress while the client is asked. */
  pauses: Pauses
  /** The current recipient of the upstream's questions and notifications. */
  audience: Pick<SessionPeer, 'ask' | 'notify'> | undefined
  /** The client's tools; undefined until fetched. */
  tools: readonly CatalogueItem[] | undefined
}

type Entry = DedicatedConnection &
  PooledConnection & {
    key: string
    /** The organization whose limits count this connection. */
    organizationId: string | undefined
    isProcess: boolean
    openQuestions: Set<AbortController>
    /** Whether the client was ever asked a question. The upstream may still hold the client's input. */
    hasAsked: boolean
  }

/** A connection borrowed for one request. `release` returns it; its argument says whether the request was completed. */
export type BorrowedConnection = { entry: DedicatedConnection; release: (how: 'ended' | 'given up') => void }

/** Notifications that are passed on to the client. List changes come from the shared connection instead. */
const FORWARDED = new Set(['notifications/message', 'notifications/elicitation/complete'])

const ask = async (entry: Entry, capabilities: JsonObject, method: string, params: JsonObject, signal: AbortSignal) => {
  assertSupported({ method, params }, capabilities)
  const { audience, openQuestions } = entry
  if (audience === undefined) throw new UpstreamError('protocol', 'This client has no request in progress.')
  if (openQuestions.size >= MAX_OPEN_QUESTIONS) {
    throw new UpstreamError('protocol', `The client already has ${MAX_OPEN_QUESTIONS} unanswered requests.`)
  }
  entry.hasAsked = true
  const cancel = new AbortController()
  openQuestions.add(cancel)
  const resumes = [...entry.pauses].map(pause => pause())
  try {
    return await audience.ask(method, maskTokens(entry, params), AbortSignal.any([signal, cancel.signal]))
  } finally {
    openQuestions.delete(cancel)
    for (const resume of resumes) resume()
  }
}

/** Connections dedicated to clients that can be asked: limited in number, closed with their client or when idle. */
export const createDedicatedConnections = (
  connections: Pick<
    UpstreamConnections,
    'onAccessChanged' | 'onReplaced' | 'openDedicated' | 'resolvedOf' | 'upstreamOf'
  >,
) => {
  const pool = createConnectionPool<Entry>()
  const whyFull = (max: number): string => `All ${max} dedicated connections are in use. Try again later.`

  /** Closes unused processes of the same user or organization if a limit is reached, never those of another one. */
  const makeRoomForProcess = (organizationId: string | undefined, userId: string | undefined): void => {
    const all = pool.list().filter(({ isProcess }) => isProcess)
    const ofOrganization = all.filter(entry => entry.organizationId === organizationId)
    const ofUser = ofOrganization.filter(entry => entry.userId === userId)
    pool.makeRoom(ofUser, MAX_PROCESSES.user, whyFull(MAX_PROCESSES.user))
    pool.makeRoom(ofOrganization, MAX_PROCESSES.organization, whyFull(MAX_PROCESSES.organization))
    if (all.length >= MAX_PROCESSES.all) pool.makeRoom(ofOrganization, 0, whyFull(MAX_PROCESSES.all))
  }

  const open = (
    upstreamId: string,
    { key, capabilities, userId }: AskableClient,
    era: Pick<ClientSetup, 'isSessionEra'> = {},
  ): Entry => {
    const ofUser = pool.listOf(upstreamId).filter(other => other.userId === userId)
    pool.makeRoom(ofUser, MAX_PER_USER, whyFull(MAX_PER_USER))
    pool.makeRoom(pool.listOf(upstreamId), MAX_DEDICATED_CONNECTIONS, whyFull(MAX_DEDICATED_CONNECTIONS))
    const organizationId = connections.resolvedOf(upstreamId)?.organizationId
    const isProcess = connections.upstreamOf(upstreamId)?.config.transport === 'stdio'
    if (isProcess) makeRoomForProcess(organizationId, userId)
    const setup: ClientSetup = {
      ...era,
      capabilities,
      prepare: client => {
        client.fallbackRequestHandler = ({ method, params }, { mcpReq }) =>
          ask(entry, capabilities, method, isJsonObject(params) ? params : {}, mcpReq.signal)
      },
    }
    const connection = connections.openDedicated(upstreamId, setup, userId)
    if (connection === undefined) throw upstreamGone()
    const entry: Entry = {
      connection,
      key,
      userId,
      upstreamId,
      organizationId,
      isProcess,
      pauses: new Set(),
      audience: undefined,
      tools: undefined,
      activeRequests: 0,
      usedAt: Date.now(),
      openQuestions: new Set(),
      hasAsked: false,
    }
    connection.onNotification(({ method, params }) => {
      if (FORWARDED.has(method) && isJsonObject(params)) entry.audience?.notify(method, maskTokens(entry, params))
    })
    pool.add(entry)
    return entry
  }

  const use = (entry: Entry): BorrowedConnection => {
    const end = pool.use(entry)
    let isReleased = false
    return {
      entry,
      release: how => {
        if (isReleased) return
        isReleased = true
        end()
        // Without this, the client would keep working on a question that no longer matters.
        if (how === 'given up' && entry.activeRequests === 0) for (const cancel of entry.openQuestions) cancel.abort()
      },
    }
  }

  /**
   * Returns whether another request may use the connection. Anonymous callers share a connection only until one of them
   * is asked something.
   */
  const isReusable = (entry: Entry, how: 'ended' | 'given up'): boolean =>
    how === 'ended' && (entry.userId !== undefined || !entry.hasAsked)

  connections.onReplaced(upstreamId => pool.closeWhere(entry => entry.upstreamId === upstreamId))
  /** Whether the connection uses the user's own account. Its session at the upstream is tied to that account. */
  const usesOwnAccount = ({ upstreamId }: Entry): boolean => {
    const upstream = connections.upstreamOf(upstreamId)
    return upstream === undefined || isPerCaller(upstream.config)
  }
  connections.onAccessChanged(userId => pool.closeWhere(entry => entry.userId === userId && usesOwnAccount(entry)))

  return {
    /**
     * Returns the one connection for all requests of a client with a session, in the era of that client. Throws
     * UpstreamError.
     */
    share: (upstreamId: string, client: AskableClient): BorrowedConnection => {
      const known = pool.listOf(upstreamId).find(entry => entry.key === client.key)
      return use(known ?? open(upstreamId, client, { isSessionEra: true }))
    },
    /**
     * Returns a connection for a single request, so that all questions on the connection belong to that request. Throws
     * UpstreamError.
     */
    borrow: (upstreamId: string, client: AskableClient): BorrowedConnection => {
      const mine = pool.listOf(upstreamId).filter(entry => entry.key === client.key)
      const entry = mine.find(({ activeRequests }) => activeRequests === 0) ?? open(upstreamId, client)
      const { release } = use(entry)
      return {
        entry,
        release: how => {
          release(how)
          if (!isReusable(entry, how)) pool.close(entry)
        },
      }
    },
    /** Returns the connections to an upstream, each with the key of its client. */
    listOf: (upstreamId: string): readonly Pick<Entry, 'connection' | 'key'>[] => pool.listOf(upstreamId),
    /** Returns the tools that the upstream offers to this client, or an empty list until they are known. */
    toolsOf: (upstreamId: string, key: string): readonly CatalogueItem[] =>
      pool.listOf(upstreamId).find(entry => entry.key === key)?.tools ?? [],
    notifyAll: (key: string, method: string): void => {
      for (const entry of pool.list()) {
        if (entry.key !== key || entry.connection.state().kind !== 'connected') continue
        entry.connection
          .get()
          .then(client => client.notification({ method }))
          .catch(() => {})
      }
    },
    /** Closes the connections of a client: all of them, because it no longer exists, or only those to one upstream. */
    closeClient: (key: string, upstreamId?: string): void =>
      pool.closeWhere(entry => entry.key === key && (upstreamId ?? entry.upstreamId) === entry.upstreamId),
    close: pool.end,
  }
}
