import { CALLER_UNKNOWN } from '../oauth-client/account-messages.ts'
import type { UpstreamState } from '../upstream.ts'
import type { UpstreamConnection } from './connection.ts'
import { createConnectionPool, type PooledConnection } from './connection-pool.ts'
import { AccountError, UpstreamError, upstreamGone } from './upstream-error.ts'

/** Maximum number of connections across all upstreams. Beyond it, the least recently used idle connection is closed. */
const MAX_CALLER_CONNECTIONS = 500
const TOO_MANY = 'Too many callers are using their own accounts right now. Try again later.'

export type CallerConnectionsOptions = {
  /**
   * Creates a connection with this user's tokens without opening it. Returns undefined if the upstream no longer
   * exists.
   */
  open: (upstreamId: string, userId: string) => UpstreamConnection | undefined
  /** Throws AccountError if the user has no working account. */
  assertConnected: (upstreamId: string, userId: string) => Promise<void>
  /** Returns a user with a working account who may still call the server, preferably `preferred`. */
  findLatestHolder: (upstreamId: string, preferred: string | undefined) => Promise<string | undefined>
}

const IDLE: UpstreamState = { kind: 'idle' }
const NO_SECRETS: readonly string[] = []
const noop = (): void => {}
const NO_PROGRESS = { token: '', stop: noop }

/**
 * Connections to upstreams where each caller uses their own account. Each caller has one connection, which a call opens
 * and which is closed when idle. No caller's responses, notifications or logs reach another caller.
 */
export const createCallerConnections = ({ open, assertConnected, findLatestHolder }: CallerConnectionsOptions) => {
  const pool = createConnectionPool()

  const find = (upstreamId: string, user: string): PooledConnection | undefined =>
    pool.listOf(upstreamId).find(({ userId }) => userId === user)

  const getOrOpen = (upstreamId: string, userId: string): PooledConnection => {
    const known = find(upstreamId, userId)
    if (known !== undefined) return known
    pool.makeRoom(pool.list(), MAX_CALLER_CONNECTIONS, TOO_MANY)
    const connection = open(upstreamId, userId)
    if (connection === undefined) throw upstreamGone()
    const caller = { upstreamId, userId, connection, activeRequests: 0, usedAt: Date.now() }
    pool.add(caller)
    return caller
  }

  const use = async <T>(
    upstreamId: string,
    userId: string,
    work: (connection: UpstreamConnection) => Promise<T>,
  ): Promise<T> => {
    await assertConnected(upstreamId, userId)
    const caller = getOrOpen(upstreamId, userId)
    const end = pool.use(caller)
    try {
      return await work(caller.connection)
    } catch (error) {
      // The account's error is more precise than the connection's error.
      if (error instanceof UpstreamError && error.kind === 'unauthorized') await assertConnected(upstreamId, userId)
      throw error
    } finally {
      end()
    }
  }

  /**
   * Creates a connection that uses the account of the user returned by `findUser`. `prepare` is called before each
   * request and returns the connection that reports the request's progress.
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
    hasSession: () => findCurrent()?.hasSession() === true,
    onState: listener => findCurrent()?.onState(listener) ?? noop,
    onNotification: listener => findCurrent()?.onNotification(listener) ?? noop,
    onProgress: listener => prepare()?.onProgress(listener) ?? NO_PROGRESS,
    secrets: () => findCurrent()?.secrets?.() ?? NO_SECRETS,
    log: () => [],
    hold: () => noop,
    close: async () => {},
  })

  const findConnected = (upstreamId: string): PooledConnection | undefined =>
    pool.listOf(upstreamId).findLast(({ connection }) => connection.state().kind === 'connected')

  return {
    /** Returns the connection for one caller. For an anonymous caller, every use fails with an explanation. */
    forCaller: (upstreamId: string, userId: string | undefined): UpstreamConnection =>
      createDelegate(
        upstreamId,
        async () => {
          if (userId === undefined) throw new AccountError(CALLER_UNKNOWN, undefined)
          return userId
        },
        () => (userId === undefined ? undefined : find(upstreamId, userId)?.connection),
        () => (userId === undefined ? undefined : getOrOpen(upstreamId, userId).connection),
      ),
    /**
     * Returns the connection for requests whose result is the same for all callers, such as lists. It keeps using the
     * account that was chosen first.
     */
    forAnybody: (upstreamId: string): UpstreamConnection => {
      let chosen: string | undefined
      const choose = async (): Promise<string> => {
        chosen ??= await findLatestHolder(upstreamId, findConnected(upstreamId)?.userId)
        if (chosen !== undefined) return chosen
        throw new AccountError(
          'No caller has connected an account yet, so the lists of this MCP server cannot be fetched.',
          undefined,
        )
      }
      const findChosen = (): PooledConnection | undefined =>
        chosen === undefined ? findConnected(upstreamId) : find(upstreamId, chosen)
      return createDelegate(
        upstreamId,
        choose,
        () => findChosen()?.connection,
        () => undefined,
      )
    },
    stateOf: (upstreamId: string): UpstreamState | undefined => {
      const states = pool.listOf(upstreamId).map(({ connection }) => connection.state())
      return states.find(({ kind }) => kind === 'connected') ?? states.at(-1)
    },
    countConnected: (upstreamId: string): number =>
      pool.listOf(upstreamId).filter(({ connection }) => connection.state().kind === 'connected').length,
    closeUpstream: (upstreamId: string): void => pool.closeWhere(caller => caller.upstreamId === upstreamId),
    closeUser: (userId: string): void => pool.closeWhere(caller => caller.userId === userId),
    close: pool.end,
  }
}
