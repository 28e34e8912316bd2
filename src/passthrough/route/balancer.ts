import { LRUCache } from 'lru-cache'
import type { UpstreamState } from '../upstream.ts'
import {
  CHECK_TIMEOUT_MS,
  DOWN_CHECK_MS,
  IN_USE_MS,
  MAX_FAILURES,
  MAX_REMEMBERED_SESSIONS,
  SESSION_IDLE_MS,
  UP_CHECK_MS,
} from './limits.ts'
import { sessionKey } from './session-key.ts'
import type { PassthroughTarget } from './target.ts'

/** Whether somebody answers at an address. Never rejects. */
export type Probe = (url: URL, timeoutMs: number) => Promise<boolean>

type Member = {
  target: PassthroughTarget
  open: number
  /** Requests in a row that got no answer. */
  failures: number
  down: { since: Date; why: string } | undefined
  checkedAt: number
  isChecking: boolean
}

/** A request's place at an address, from when it is sent there until all of it is over. */
export type Place = {
  target: PassthroughTarget
  /** The address answered. */
  answered: () => void
  /** It did not, for a reason that lies with it; `isGone`: nobody took the connection. */
  failed: (why: string, isGone: boolean) => void
  /** Call once. */
  leave: () => void
}

/**
 * Spreads requests over the addresses of one upstream: each goes where the fewest are open, those of one session to one
 * address. An address that takes no connection is left out; it is looked at until it answers again.
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
  // Its room is taken at once, so that there is none where there is nothing to choose.
  const sessions = hasChoice
    ? new LRUCache<string, Member>({ max: MAX_REMEMBERED_SESSIONS, ttl: SESSION_IDLE_MS, updateAgeOnGet: true })
    : undefined
  let usedAt = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const check = async (member: Member): Promise<void> => {
    if (member.isChecking) return
    member.isChecking = true
    const isThere = await probe(member.target.url, CHECK_TIMEOUT_MS)
    member.isChecking = false
    member.checkedAt = Date.now()
    if (isThere) {
      member.down = undefined
      member.failures = 0
    } else {
      member.down ??= { since: new Date(), why: `${member.target.url.host} does not answer` }
      watch()
    }
  }

  const needsWatch = (): boolean =>
    members.some(({ down }) => down !== undefined) || (hasChoice && Date.now() - usedAt < IN_USE_MS)

  /** Runs while there is something to look at. */
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

  const takePlace = (member: Member): Place => {
    member.open += 1
    return {
      target: member.target,
      answered: () => {
        member.failures = 0
        member.down = undefined
      },
      failed: (why, isGone) => {
        member.failures += 1
        if (isGone) member.down ??= { since: new Date(), why }
        // What is no end of the address but of one request is looked into: a caller may have brought it about.
        else if (member.failures >= MAX_FAILURES) void check(member)
        watch()
      },
      leave: () => {
        member.open -= 1
      },
    }
  }

  const isFit = ({ down, target }: Member, tried: ReadonlySet<PassthroughTarget>): boolean =>
    down === undefined && !tried.has(target)

  /** With the fewest open requests; of several the one that comes first. */
  const leastBusy = (tried: ReadonlySet<PassthroughTarget>): Member | undefined => {
    let found: Member | undefined
    for (const member of members) {
      if (isFit(member, tried) && (found === undefined || member.open < found.open)) found = member
    }
    return found
  }

  return {
    /** A place for a request, of a session if it has one; undefined where no address is left. Those `tried` are not taken again. */
    take: (session: string | undefined, tried: ReadonlySet<PassthroughTarget>): Place | undefined => {
      usedAt = Date.now()
      if (hasChoice) watch()
      const known = session === undefined ? undefined : sessions?.get(sessionKey(session))
      const member = known !== undefined && isFit(known, tried) ? known : leastBusy(tried)
      return member && takePlace(member)
    },
    /** From now on the requests of this session go there. */
    remember: (session: string, { target }: Place): void => {
      const member = members.find(one => one.target === target)
      if (member !== undefined) sessions?.set(sessionKey(session), member)
    },
    /** Why the latest address that is down is. */
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
