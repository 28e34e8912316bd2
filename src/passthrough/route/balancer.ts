import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { UpstreamState } from '../../upstreams/upstream.ts'
import { isGatewayError } from '../proxy/reverse-proxy.ts'
import type { PassthroughTarget } from './target.ts'

/** Maximum number of sessions per server whose address is stored. The least recently used are dropped. */
export const MAX_REMEMBERED_SESSIONS = 10_000
/** Idle time after which a session may move to another address. It equals the idle timeout of our own sessions. */
const SESSION_IDLE_MS = 24 * 60 * 60 * 1_000
/** Interval at which an address that is down is probed. */
const DOWN_CHECK_MS = 1_000
/** Interval at which an address that is up is probed, if there are several addresses. */
const UP_CHECK_MS = 10_000
/** Addresses that are up are only probed if the server was used within this time. */
const IN_USE_MS = 60_000
const CHECK_TIMEOUT_MS = 2_000
/** Number of consecutive failures after which an address is probed immediately. */
const MAX_FAILURES = 3
const MAX_SESSION_CHARACTERS = 64

/** Returns the key for an upstream's session. Long ids are hashed to limit the size of the key. */
export const sessionKey = (session: string): string =>
  session.length <= MAX_SESSION_CHARACTERS ? session : hash('sha256', session, 'base64')

/** Returns whether a server responds at an address. Never rejects. */
export type Probe = (url: URL, timeoutMs: number) => Promise<boolean>

type Member = {
  target: PassthroughTarget
  open: number
  /** Number of consecutive requests that failed. */
  failures: number
  down: { since: Date; why: string } | undefined
  checkedAt: number
  isChecking: boolean
}

/** An open request to an address. */
export type Slot = {
  target: PassthroughTarget
  /** Reports a response. Gateway error statuses count as failures. */
  responded: (status: number) => void
  /** Reports a failure. `isGone` means that the address refused the connection. */
  failed: (why: string, isGone: boolean) => void
  /** Must be called once, when the request is over. */
  release: () => void
}

/**
 * Distributes requests over the addresses of an upstream. A request goes to the address with the fewest open requests,
 * or to the address of its session. An address that refuses connections is skipped and probed until it responds.
 */
export const createBalancer = (targets: readonly PassthroughTarget[], probe: Probe) => {
  const members: Member[] = targets.map(target => ({
    target,
    open: 0,
    failures: 0,
    down: undefined,
    checkedAt: 0,
    isChecking: false,
  }))
  const hasChoice = members.length > 1
  // Created only if there are several addresses, because the cache allocates its memory up front.
  const sessions = hasChoice
    ? new LRUCache<string, Member>({ max: MAX_REMEMBERED_SESSIONS, ttl: SESSION_IDLE_MS, updateAgeOnGet: true })
    : undefined
  let usedAt = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const markUp = (member: Member): void => {
    member.failures = 0
    member.down = undefined
  }

  const check = async (member: Member): Promise<void> => {
    if (member.isChecking) return
    member.isChecking = true
    const isThere = await probe(member.target.url, CHECK_TIMEOUT_MS)
    member.isChecking = false
    member.checkedAt = Date.now()
    if (isThere) markUp(member)
    else {
      member.down ??= { since: new Date(), why: `${member.target.url.host} does not respond` }
      watch()
    }
  }

  const needsWatch = (): boolean =>
    members.some(({ down }) => down !== undefined) || (hasChoice && Date.now() - usedAt < IN_USE_MS)

  /** Probes addresses at intervals while any address needs it. */
  const watch = (): void => {
    if (timer !== undefined || isClosed) return
    timer = setTimeout(() => {
      timer = undefined
      for (const member of members) {
        const isDue = member.down !== undefined || (hasChoice && Date.now() - member.checkedAt >= UP_CHECK_MS)
        if (isDue) void check(member)
      }
      if (needsWatch()) watch()
    }, DOWN_CHECK_MS)
    timer.unref()
  }

  const takePlace = (member: Member): Slot => {
    const { target } = member
    const failed: Slot['failed'] = (why, isGone) => {
      member.failures += 1
      if (isGone) member.down ??= { since: new Date(), why }
      // The caller may have caused the failure, so the address is probed before it counts as down.
      else if (member.failures >= MAX_FAILURES) void check(member)
      watch()
    }
    member.open += 1
    return {
      target,
      responded: status => {
        if (isGatewayError(status)) failed(`${target.url.host} responded with ${status}`, false)
        else markUp(member)
      },
      failed,
      release: () => {
        member.open -= 1
      },
    }
  }

  const isFit = ({ down, target }: Member, tried: ReadonlySet<PassthroughTarget>): boolean =>
    down === undefined && !tried.has(target)

  /** Returns the address with the fewest open requests. If there are several, returns the first one. */
  const leastBusy = (tried: ReadonlySet<PassthroughTarget>): Member | undefined =>
    members.filter(member => isFit(member, tried)).toSorted((a, b) => a.open - b.open)[0]

  return {
    /**
     * Takes a slot for a request, preferably at the address of its session. Skips the addresses in `tried`. Returns
     * undefined if no address is left.
     */
    take: (session: string | undefined, tried: ReadonlySet<PassthroughTarget>): Slot | undefined => {
      usedAt = Date.now()
      if (hasChoice) watch()
      const known = session === undefined ? undefined : sessions?.get(sessionKey(session))
      const member = known !== undefined && isFit(known, tried) ? known : leastBusy(tried)
      return member && takePlace(member)
    },
    /** Directs the session's requests to this address from now on. */
    remember: (session: string, { target }: Slot): void => {
      const member = members.find(one => one.target === target)
      if (member !== undefined) sessions?.set(sessionKey(session), member)
    },
    /** Returns why an address is down. If several are down, returns the reason for the last one. */
    whyDown: (): string | undefined => members.findLast(({ down }) => down !== undefined)?.down?.why,
    targets,
    state: (): UpstreamState => {
      const [first] = members
      const down = members.every(member => member.down !== undefined) ? first?.down : undefined
      if (down !== undefined) {
        return {
          kind: 'failed',
          why: `${down.why}.`,
          since: down.since,
          nextTryAt: new Date(Date.now() + DOWN_CHECK_MS),
        }
      }
      return { kind: usedAt === 0 ? 'idle' : 'connected' }
    },
    close: (): void => {
      isClosed = true
      clearTimeout(timer)
      sessions?.clear()
    },
  }
}

export type Balancer = ReturnType<typeof createBalancer>
