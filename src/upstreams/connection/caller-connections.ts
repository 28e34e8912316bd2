import { NAMELESS } from '../oauth-client/account-words.ts'
import type { UpstreamState } from '../upstream.ts'
import type { UpstreamConnection } from './connection.ts'
import { AccountError, UpstreamError } from './upstream-error.ts'

/** Connections of callers at once, of all upstreams together; above it who called longest ago is let go. */
const MAX_CALLER_CONNECTIONS = 500
/** One that nobody has used this long is closed. */
const IDLE_MS = 5 * 60_000
const LOOK_MS = 60_000

/** A connection by one caller's own account. */
type Own = { upstreamId: string; userId: string; connection: UpstreamConnection; underWay: number; usedAt: number }

export type CallerConnectionsOptions = {
  /** A connection by this user's tokens; not made yet. */
  open: (upstreamId: string, userId: string) => UpstreamConnection | undefined
  /** Throws AccountError where the user has connected no account that is good. */
  assertConnected: (upstreamId: string, userId: string) => Promise<void>
  /** Who has and may call still, of whom any will do; rather this one. */
  findLatestHolder: (upstreamId: string, preferred: string | undefined) => Promise<string | undefined>
  maxConnections?: number
}

const gone = (): UpstreamError => new UpstreamError('aborted', 'The upstream is disabled, or was removed.')
const tooMany = (): UpstreamError =>
  new UpstreamError('unavailable', 'Too many callers are using accounts of their own at this moment; try again soon.')

const IDLE: UpstreamState = { kind: 'idle' }
const NO_SECRETS: readonly string[] = []
const nothing = (): void => {}
const NO_PROGRESS = { token: '', stop: nothing }

/**
 * Connections of upstreams to which each caller goes by an account of their own: one of each caller, made with a call,
 * closed when it is idle. No caller's answers, notifications or log reach another.
 */
export const createCallerConnections = ({
  open,
  assertConnected,
  findLatestHolder,
  maxConnections = MAX_CALLER_CONNECTIONS,
}: CallerConnectionsOptions) => {
  // In the order of their last use.
  const owns = new Map<string, Own>()
  const closing = new Set<Promise<unknown>>()
  const keyOf = (upstreamId: string, userId: string): string => `${upstreamId} ${userId}`

  const end = (own: Own): void => {
    owns.delete(keyOf(own.upstreamId, own.userId))
    const ending: Promise<unknown> = own.connection
      .close()
      .catch(nothing)
      .finally(() => closing.delete(ending))
    closing.add(ending)
  }

  const endWhere = (isMeant: (own: Own) => boolean): void => {
    for (const own of [...owns.values()]) if (isMeant(own)) end(own)
  }

  const looking = setInterval(() => {
    const before = Date.now() - IDLE_MS
    endWhere(({ underWay, usedAt }) => underWay === 0 && usedAt < before)
  }, LOOK_MS)
  looking.unref()

  const makeRoom = (): void => {
    if (owns.size < maxConnections) return
    const oldest = [...owns.values()].find(({ underWay }) => underWay === 0)
    if (oldest === undefined) throw tooMany()
    end(oldest)
  }

  const take = (upstreamId: string, userId: string): Own => {
    const key = keyOf(upstreamId, userId)
    const known = owns.get(key)
    if (known !== undefined) {
      owns.delete(key)
      owns.set(key, known)
      return known
    }
    makeRoom()
    const connection = open(upstreamId, userId)
    if (connection === undefined) throw gone()
    const own: Own = { upstreamId, userId, connection, underWay: 0, usedAt: Date.now() }
    owns.set(key, own)
    return own
  }

  const use = async <T>(
    upstreamId: string,
    userId: string,
    work: (connection: UpstreamConnection) => Promise<T>,
  ): Promise<T> => {
    await assertConnected(upstreamId, userId)
    const own = take(upstreamId, userId)
    own.underWay++
    try {
      return await work(own.connection)
    } catch (error) {
      // What ended the connection says less than what is known of the account.
      if (error instanceof UpstreamError && error.kind === 'unauthorized') await assertConnected(upstreamId, userId)
      throw error
    } finally {
      own.underWay--
      own.usedAt = Date.now()
    }
  }

  /**
   * A connection by the account of whoever `findUser` answers at each use. `prepare`: the one that progress will come
   * over, which is heard before anything is asked.
   */
  const reach = (
    upstreamId: string,
    findUser: () => Promise<string>,
    findOwn: () => UpstreamConnection | undefined,
    prepare: () => UpstreamConnection | undefined,
  ): UpstreamConnection => ({
    get: async signal => use(upstreamId, await findUser(), connection => connection.get(signal)),
    run: async (operation, signal) =>
      use(upstreamId, await findUser(), connection => connection.run(operation, signal)),
    state: () => findOwn()?.state() ?? IDLE,
    era: () => findOwn()?.era(),
    onState: listener => findOwn()?.onState(listener) ?? nothing,
    onNotification: listener => findOwn()?.onNotification(listener) ?? nothing,
    hearProgress: listener => prepare()?.hearProgress(listener) ?? NO_PROGRESS,
    secrets: () => findOwn()?.secrets?.() ?? NO_SECRETS,
    log: () => [],
    hold: () => nothing,
    close: async () => {},
  })

  const findAny = (upstreamId: string): Own | undefined =>
    [...owns.values()].findLast(own => own.upstreamId === upstreamId && own.connection.state().kind === 'connected')

  return {
    /** For the calls of one caller; undefined: of one without a name, who is told why there is none. */
    of: (upstreamId: string, userId: string | undefined): UpstreamConnection =>
      reach(
        upstreamId,
        async () => {
          if (userId === undefined) throw new AccountError(NAMELESS, undefined)
          return userId
        },
        () => (userId === undefined ? undefined : owns.get(keyOf(upstreamId, userId))?.connection),
        () => (userId === undefined ? undefined : take(upstreamId, userId).connection),
      ),
    /** For what is the same whoever asks, such as lists: by the account of one caller from the first use on. */
    ofAnybody: (upstreamId: string): UpstreamConnection => {
      let chosen: string | undefined
      const choose = async (): Promise<string> => {
        chosen ??= await findLatestHolder(upstreamId, findAny(upstreamId)?.userId)
        if (chosen !== undefined) return chosen
        throw new AccountError(
          'Nobody has connected an account of theirs there yet, by which it could be asked.',
          undefined,
        )
      }
      const findChosen = (): Own | undefined =>
        chosen === undefined ? findAny(upstreamId) : owns.get(keyOf(upstreamId, chosen))
      return reach(
        upstreamId,
        choose,
        () => findChosen()?.connection,
        () => undefined,
      )
    },
    /** How the upstream is, by what any caller's connection says. */
    stateOf: (upstreamId: string): UpstreamState | undefined => {
      const states = [...owns.values()].flatMap(own => (own.upstreamId === upstreamId ? own.connection.state() : []))
      return states.find(({ kind }) => kind === 'connected') ?? states.at(-1)
    },
    closeOf: (upstreamId: string): void => endWhere(own => own.upstreamId === upstreamId),
    closeOfUser: (userId: string): void => endWhere(own => own.userId === userId),
    count: (): number => owns.size,
    close: async (): Promise<void> => {
      clearInterval(looking)
      endWhere(() => true)
      await Promise.allSettled(closing)
    },
  }
}
