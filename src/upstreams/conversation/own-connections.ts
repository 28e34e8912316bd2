import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CatalogueItem } from '../catalogue/catalogue.ts'
import type { ClientPeer } from '../connection/call-link.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { UpstreamOffer } from '../connection/open-connection.ts'
import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import { isPerCaller } from '../upstream.ts'
import { withoutTokens } from './account-tokens.ts'
import type { Pauses } from './ask-with-link.ts'
import { assertOffered } from './asked-requests.ts'

/** Connections of clients' own to one upstream, each of which may be a process. */
const MAX_OWN_CONNECTIONS = 50
/** Of these, those of one user; all who call without a name are one. */
const MAX_OF_ONE_USER = 25
/** What an upstream may wait to be answered over one of them. */
const MAX_UNANSWERED = 20
/** One that nobody has used this long is closed. */
const IDLE_MS = 5 * 60_000
const LOOK_MS = 60_000

/** Who has a connection, and what it offers there. */
export type OwnClient = Pick<ClientPeer, 'key' | 'capabilities' | 'userId'>

/** Who is asked, and told, what comes over a connection of its own. */
export type OwnAudience = {
  ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>
  tell: (method: string, params: JsonObject) => void
}

export type OwnConnection = {
  connection: UpstreamConnection
  /** Requests under way whose time does not pass while the client is asked. */
  pauses: Pauses
  /** Whoever is asked from now on. */
  audience: OwnAudience | undefined
  /** The tools there, once they are known. */
  tools: readonly CatalogueItem[] | undefined
}

type Kept = OwnConnection & {
  key: string
  userId: string | undefined
  upstreamId: string
  underWay: number
  usedAt: number
  /** How what it waits to be answered is given up. */
  unanswered: Set<AbortController>
  /** Whether it was ever answered anything, which it may remember. */
  hasAsked: boolean
}

/** A connection for one request; `release` gives it back, and says whether the request came to its end. */
export type LentConnection = { own: OwnConnection; release: (how: 'ended' | 'given up') => void }

/** What of a client's own connection it hears; changed lists are told by the one that all share. */
const TOLD = new Set(['notifications/message', 'notifications/elicitation/complete'])

const ask = async (own: Kept, capabilities: JsonObject, method: string, params: JsonObject, signal: AbortSignal) => {
  assertOffered({ method, params }, capabilities)
  const { audience, unanswered } = own
  if (audience === undefined) throw new UpstreamError('protocol', 'No request of this client is under way.')
  if (unanswered.size >= MAX_UNANSWERED) {
    throw new UpstreamError('protocol', `The client has ${MAX_UNANSWERED} requests to answer already.`)
  }
  own.hasAsked = true
  const giveUp = new AbortController()
  unanswered.add(giveUp)
  const resumes = [...own.pauses].map(pause => pause())
  try {
    return await audience.ask(method, withoutTokens(own, params), AbortSignal.any([signal, giveUp.signal]))
  } finally {
    unanswered.delete(giveUp)
    for (const resume of resumes) resume()
  }
}

/** Connections of clients that can be asked something: bounded in number, closed with their client or when idle. */
export const createOwnConnections = (
  connections: Pick<UpstreamConnections, 'onAccessChanged' | 'onReplaced' | 'openWith' | 'upstreamOf'>,
) => {
  const kept = new Map<string, Set<Kept>>()
  const closing = new Set<Promise<unknown>>()

  const close = (own: Kept): void => {
    const all = kept.get(own.upstreamId)
    all?.delete(own)
    if (all?.size === 0) kept.delete(own.upstreamId)
    const ending: Promise<unknown> = own.connection
      .close()
      .catch(() => {})
      .finally(() => closing.delete(ending))
    closing.add(ending)
  }
  const closeWhere = (isMeant: (own: Kept) => boolean): void => {
    for (const all of [...kept.values()]) for (const own of [...all]) if (isMeant(own)) close(own)
  }

  /** Closes the one that was not used the longest where there are as many as may be. */
  const makeRoom = (all: readonly Kept[], most: number): void => {
    if (all.length < most) return
    const [oldest] = all.filter(({ underWay }) => underWay === 0).sort((a, b) => a.usedAt - b.usedAt)
    if (oldest !== undefined) {
      close(oldest)
      return
    }
    const why = `As many connections of clients' own as may be, ${most}, are in use there; try again soon.`
    throw new UpstreamError('unavailable', why)
  }

  const open = (upstreamId: string, { key, capabilities, userId }: OwnClient): Kept => {
    const others = [...(kept.get(upstreamId) ?? [])]
    makeRoom(
      others.filter(other => other.userId === userId),
      MAX_OF_ONE_USER,
    )
    makeRoom(others, MAX_OWN_CONNECTIONS)
    const offer: UpstreamOffer = {
      capabilities,
      prepare: client => {
        client.fallbackRequestHandler = ({ method, params }, { mcpReq }) =>
          ask(own, capabilities, method, isJsonObject(params) ? params : {}, mcpReq.signal)
      },
    }
    const connection = connections.openWith(upstreamId, offer, userId)
    if (connection === undefined) throw new UpstreamError('aborted', 'The upstream is disabled, or was removed.')
    const own: Kept = {
      connection,
      key,
      userId,
      upstreamId,
      pauses: new Set(),
      audience: undefined,
      tools: undefined,
      underWay: 0,
      usedAt: Date.now(),
      unanswered: new Set(),
      hasAsked: false,
    }
    connection.onNotification(({ method, params }) => {
      if (TOLD.has(method) && isJsonObject(params)) own.audience?.tell(method, withoutTokens(own, params))
    })
    const all = kept.get(upstreamId) ?? new Set<Kept>()
    kept.set(upstreamId, all.add(own))
    return own
  }

  const use = (own: Kept): LentConnection => {
    own.underWay += 1
    let isReleased = false
    return {
      own,
      release: how => {
        if (isReleased) return
        isReleased = true
        own.underWay -= 1
        own.usedAt = Date.now()
        // An upstream that does not hear of it would have its client think on about what nobody needs.
        if (how === 'given up' && own.underWay === 0) for (const giveUp of own.unanswered) giveUp.abort()
      },
    }
  }

  /** What one of them told, or may ask yet, is not for another who has no name either. */
  const isForOthers = (own: Kept, how: 'ended' | 'given up'): boolean =>
    how === 'ended' && (own.userId !== undefined || !own.hasAsked)

  const looking = setInterval(() => {
    const before = Date.now() - IDLE_MS
    closeWhere(({ underWay, usedAt }) => underWay === 0 && usedAt < before)
  }, LOOK_MS)
  looking.unref()
  connections.onReplaced(upstreamId => closeWhere(own => own.upstreamId === upstreamId))
  /** The upstream takes a session for that of the account which began it. */
  const isByOwnAccount = ({ upstreamId }: Kept): boolean => {
    const upstream = connections.upstreamOf(upstreamId)
    return upstream === undefined || isPerCaller(upstream.config)
  }
  connections.onAccessChanged(userId => closeWhere(own => own.userId === userId && isByOwnAccount(own)))

  return {
    /** The one of a client with a session, whichever of its requests is under way. Throws UpstreamError. */
    share: (upstreamId: string, client: OwnClient): LentConnection => {
      const known = [...(kept.get(upstreamId) ?? [])].find(own => own.key === client.key)
      return use(known ?? open(upstreamId, client))
    },
    /** One for a single request, so that whatever is asked over it belongs to that. Throws UpstreamError. */
    lend: (upstreamId: string, client: OwnClient): LentConnection => {
      const mine = [...(kept.get(upstreamId) ?? [])].filter(own => own.key === client.key)
      const own = mine.find(({ underWay }) => underWay === 0) ?? open(upstreamId, client)
      const { release } = use(own)
      return {
        own,
        release: how => {
          release(how)
          if (!isForOthers(own, how)) close(own)
        },
      }
    },
    /** What tools there are over a client's own connection; none while that is not known. */
    toolsOf: (upstreamId: string, key: string): readonly CatalogueItem[] =>
      [...(kept.get(upstreamId) ?? [])].find(own => own.key === key)?.tools ?? [],
    tellAll: (key: string, method: string): void => {
      for (const all of kept.values()) {
        for (const own of all) {
          if (own.key !== key || own.connection.state().kind !== 'connected') continue
          own.connection
            .get()
            .then(client => client.notification({ method }))
            .catch(() => {})
        }
      }
    },
    /** Ends those of a client that is gone. */
    closeOf: (key: string): void => closeWhere(own => own.key === key),
    close: async (): Promise<void> => {
      clearInterval(looking)
      closeWhere(() => true)
      await Promise.allSettled(closing)
    },
  }
}
