import { CALLER_UNKNOWN } from '../oauth-client/account-messages.ts'
import type { UpstreamState } from '../upstream.ts'
import type { UpstreamConnection } from './connection.ts'
import { AccountError, UpstreamError } from './upstream-error.ts'

/** For all upstreams together. Above it, the least recently used idle connection is closed. */
const MAX_CALLER_CONNECTIONS = 500
const IDLE_MS = 5 * 60_000
const IDLE_CHECK_INTERVAL_MS = 60_000

type CallerConnection = {
  upstreamId: string
  userId: string
  connection: UpstreamConnection
  activeCalls: number
  usedAt: number
}

export type CallerConnectionsOptions = {
  /** Creates a connection with this user's tokens, not yet opened; undefined if the upstream is gone. */
  open: (upstreamId: string, userId: string) => UpstreamConnection | undefined
  /** Throws AccountError if the user has no working account. */
  assertConnected: (upstreamId: string, userId: string) => Promise<void>
  /** Returns a user with a working account who may still call the server, if possible `preferred`. */
  findLatestHolder: (upstreamId: string, preferred: string | undefined) => Promise<string | undefined>
  maxConnections?: number
}

const gone = (): UpstreamError => new UpstreamError('aborted', 'The upstream is disabled or was removed.')
const tooMany = (): UpstreamError =>
  new UpstreamError('unavailable', 'Too many callers are using their own accounts right now. Try again soon.')

const IDLE: UpstreamState = { kind: 'idle' }
const NO_SECRETS: readonly string[] = []
const noop = (): void => {}
const NO_PROGRESS = { token: '', stop: noop }

/**
 * Connections to upstreams where each caller uses their own account: one per caller, opened by a call and closed when
 * idle. No response, notification or log of one caller reaches another.
 */
export const createCallerConnections = ({
  open,
  assertConnected,
  findLatestHolder,
  maxConnections = MAX_CALLER_CONNECTIONS,
}: CallerConnectionsOptions) => {
  // Least recently used first.
  const connections = new Map<string, CallerConnection>()
  const closing = new Set<Promise<unknown>>()
  const keyOf = (upstreamId: string, userId: string): string => `${upstreamId} ${userId}`

  const close = (caller: CallerConnection): void => {
    connections.delete(keyOf(caller.upstreamId, caller.userId))
    const ending: Promise<unknown> = caller.connection
      .close()
      .catch(noop)
      .finally(() => closing.delete(ending))
    closing.add(ending)
  }

  const closeWhere = (matches: (caller: CallerConnection) => boolean): void => {
    for (const caller of [...connections.values()]) if (matches(caller)) close(caller)
  }

  const idleTimer = setInterval(() => {
    const before = Date.now() - IDLE_MS
    closeWhere(({ activeCalls, usedAt }) => activeCalls === 0 && usedAt < before)
  }, IDLE_CHECK_INTERVAL_MS)
  idleTimer.unref()

  const makeRoom = (): void => {
    if (connections.size < maxConnections) return
    const oldest = [...connections.values()].find(({ activeCalls }) => activeCalls === 0)
    if (oldest === undefined) throw tooMany()
    close(oldest)
  }

  const getOrOpen = (upstreamId: string, userId: string): CallerConnection => {
    const key = keyOf(upstreamId, userId)
    const known = connections.get(key)
    if (known !== undefined) {
      connections.delete(key)
      connections.set(key, known)
      return known
    }
    makeRoom()
    const connection = open(upstreamId, userId)
    if (connection === undefined) throw gone()
    const caller: CallerConnection = { upstreamId, userId, connection, activeCalls: 0, usedAt: Date.now() }
    connections.set(key, caller)
    return caller
  }

  const use = async <T>(
    upstreamId: string,
    userId: string,
    work: (connection: UpstreamConnection) => Promise<T>,
  ): Promise<T> => {
    await assertConnected(upstreamId, userId)
    const caller = getOrOpen(upstreamId, userId)
    caller.activeCalls++
    try {
      return await work(caller.connection)
    } catch (error) {
      // The account's problem is more precise than the connection's error.
      if (error instanceof UpstreamError && error.kind === 'unauthorized') await assertConnected(upstreamId, userId)
      throw error
    } finally {
      caller.activeCalls--
      caller.usedAt = Date.now()
    }
  }

  /**
   * A connection that uses the account of the user that `findUser` returns. `prepare` returns the connection whose
   * progress to listen to before anything is sent.
   */
  const createDelegate = (
    upstreamId: string,
    findUser: () => Promise<string>,
    findCurrent: () => UpstreamConnection | undefined,
    prepare: () => UpstreamConnection | undefined,
  ): UpstreamConnection => ({
    get: async signal => use(upstreamId, await findUser(), connection => connection.get(signal)),
    run: async (operation, signal) =>
      use(upstreamId, await findUser(), connection => connection.run(operation, signal)),
    state: () => findCurrent()?.state() ?? IDLE,
    era: () => findCurrent()?.era(),
    onState: listener => findCurrent()?.onState(listener) ?? noop,
    onNotification: listener => findCurrent()?.onNotification(listener) ?? noop,
    onProgress: listener => prepare()?.onProgress(listener) ?? NO_PROGRESS,
    secrets: () => findCurrent()?.secrets?.() ?? NO_SECRETS,
    log: () => [],
    hold: () => noop,
    close: async () => {},
  })

  const findConnected = (upstreamId: string): CallerConnection | undefined =>
    [...connections.values()].findLast(
      caller => caller.upstreamId === upstreamId && caller.connection.state().kind === 'connected',
    )

  return {
    /** The connection for one caller. For an anonymous caller every use fails with an explanation. */
    forCaller: (upstreamId: string, userId: string | undefined): UpstreamConnection =>
      createDelegate(
        upstreamId,
        async () => {
          if (userId === undefined) throw new AccountError(CALLER_UNKNOWN, undefined)
          return userId
        },
        () => (userId === undefined ? undefined : connections.get(keyOf(upstreamId, userId))?.connection),
        () => (userId === undefined ? undefined : getOrOpen(upstreamId, userId).connection),
      ),
    /**
     * The connection for requests with the same result for all callers, such as lists. It stays with the first account
     * chosen.
     */
    forAnybody: (upstreamId: string): UpstreamConnection => {
      let chosen: string | undefined
      const choose = async (): Promise<string> => {
        chosen ??= await findLatestHolder(upstreamId, findConnected(upstreamId)?.userId)
        if (chosen !== undefined) return chosen
        throw new AccountError('No caller has connected an account yet, so its lists cannot be fetched.', undefined)
      }
      const findChosen = (): CallerConnection | undefined =>
        chosen === undefined ? findConnected(upstreamId) : connections.get(keyOf(upstreamId, chosen))
      return createDelegate(
        upstreamId,
        choose,
        () => findChosen()?.connection,
        () => undefined,
      )
    },
    /** The state of the upstream as seen by any caller's connection. */
    stateOf: (upstreamId: string): UpstreamState | undefined => {
      const states = [...connections.values()].flatMap(caller =>
        caller.upstreamId === upstreamId ? caller.connection.state() : [],
      )
      return states.find(({ kind }) => kind === 'connected') ?? states.at(-1)
    },
    closeUpstream: (upstreamId: string): void => closeWhere(caller => caller.upstreamId === upstreamId),
    closeUser: (userId: string): void => closeWhere(caller => caller.userId === userId),
    count: (): number => connections.size,
    close: async (): Promise<void> => {
      clearInterval(idleTimer)
      closeWhere(() => true)
      await Promise.allSettled(closing)
    },
  }
}
