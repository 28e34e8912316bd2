import type { CompiledServer } from '../execution/index.ts'
import { createAbsences } from './absences.ts'
import { createMounted, type Mounted } from './mounted.ts'
import { buildRouter, type Router, type ServerInfo } from './router.ts'
import { createSoon } from './soon.ts'
import { createTurns } from './turns.ts'

/** What this folder writes to the log; pino's logger is one. */
export type McpLogger = {
  error: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}

export type RegistryOptions = {
  /** A server as it is now; undefined when there is none of this id. */
  compile: (serverId: string) => Promise<CompiledServer | undefined>
  /** Runs before a server is mounted, and takes none of the time of those who build; never rejects. */
  prepare?: (serverId: string) => Promise<void>
  serverInfo: ServerInfo
  /** Milliseconds since 1970. */
  now: () => number
  /** A server without a request and without open streams for this long is let go. */
  idleMs: number
  /** Above it, those unused for longest are let go, unless they have open streams. */
  maxMounted: number
  logger: McpLogger
}

/** Comments on open streams, well within the 60 s after which proxies give up on a silent connection. */
const BEAT_INTERVAL_MS = 15_000

/** Builds at once, of all servers: a large one takes its time on the thread that answers calls. */
const BUILDS_AT_ONCE = 2

/** Upstreams mostly fail together: what they share is down. */
const OUTAGE_MS = 250

/** A first mount failed a moment ago; it is not tried again yet. */
export class RecentFailure extends Error {
  override name = 'RecentFailure'
}

/** Until it has started, it will see every change made so far. */
type Build = { hasStarted: boolean }

type Slot = {
  mounted: Mounted | undefined
  /** The last build asked for, and its end, while there is one. Those of one server run one after the other. */
  newest: Build | undefined
  building: Promise<Mounted | undefined> | undefined
  lastUsedAt: number
  isReleased: boolean
}

/**
 * Mounts servers on their first use and swaps their routers when they change. The only one that holds them:
 * a request reads one reference and keeps it to its end.
 */
export const createMcpRegistry = ({
  compile,
  prepare,
  serverInfo,
  now,
  idleMs,
  maxMounted,
  logger,
}: RegistryOptions) => {
  const slots = new Map<string, Slot>()
  const absences = createAbsences(now)
  const failures = createAbsences(now)
  const inTurn = createTurns(BUILDS_AT_ONCE)
  let isClosing = false

  const release = (serverId: string): void => {
    const slot = slots.get(serverId)
    if (slot === undefined) return
    slots.delete(serverId)
    slot.isReleased = true
    slot.mounted?.end()
  }

  const apply = (serverId: string, slot: Slot, own: Build, router: Router | undefined): void => {
    if (slot.isReleased) return
    if (router === undefined) {
      // It may have been made after this build looked: then the next build finds it.
      if (slot.newest !== own) return
      release(serverId)
      absences.add(serverId)
      return
    }
    if (slot.mounted === undefined) slot.mounted = createMounted(serverId, router)
    else slot.mounted.swap(router)
  }

  const run = async (serverId: string, slot: Slot, own: Build): Promise<Mounted | undefined> => {
    own.hasStarted = true
    if (slot.isReleased) return undefined
    try {
      const server = await compile(serverId)
      apply(serverId, slot, own, server && (await buildRouter(server, serverInfo)))
    } catch (error) {
      if (slot.mounted === undefined && slot.newest === own && !slot.isReleased) {
        slots.delete(serverId)
        failures.add(serverId)
      }
      throw error
    }
    return slot.mounted
  }

  const runNext = async (serverId: string, slot: Slot, own: Build, before: Promise<unknown> | undefined) => {
    // How the one before ended is told to those who wait for it.
    if (before !== undefined) await before.catch(() => {})
    return inTurn(() => run(serverId, slot, own))
  }

  /** A build that starts from now on: one that waits for its turn serves everybody who comes until it starts. */
  const build = (serverId: string, slot: Slot, ready?: Promise<void>): Promise<Mounted | undefined> => {
    if (slot.newest?.hasStarted === false && slot.building !== undefined) return slot.building
    const before = ready ?? slot.building
    const own: Build = { hasStarted: false }
    slot.newest = own
    const building = runNext(serverId, slot, own, before)
    slot.building = building
    const forget = (): void => {
      if (slot.newest === own) slot.newest = slot.building = undefined
    }
    building.then(forget, forget)
    return building
  }

  const isIdle = ({ mounted }: Slot): boolean => mounted !== undefined && mounted.openStreams === 0
  const makeRoom = (): void => {
    if (slots.size < maxMounted) return
    const oldest = [...slots].filter(([, slot]) => isIdle(slot)).sort(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt)
    // A tenth at once, so that the sort is not paid for by every mount.
    for (const [serverId] of oldest.slice(0, Math.ceil(maxMounted / 10))) release(serverId)
  }

  const mount = (serverId: string): Promise<Mounted | undefined> => {
    makeRoom()
    const slot: Slot = {
      mounted: undefined,
      newest: undefined,
      building: undefined,
      lastUsedAt: now(),
      isReleased: false,
    }
    slots.set(serverId, slot)
    return build(serverId, slot, prepare?.(serverId))
  }

  const letIdleGo = (): void => {
    const before = now() - idleMs
    for (const [serverId, slot] of slots) {
      if (slot.lastUsedAt < before && isIdle(slot)) release(serverId)
    }
  }
  const idleTimer = setInterval(letIdleGo, Math.max(idleMs / 2, 1_000))
  const beatTimer = setInterval(() => {
    for (const { mounted } of slots.values()) mounted?.beat()
  }, BEAT_INTERVAL_MS)
  idleTimer.unref()
  beatTimer.unref()

  const refresh = async (serverId: string): Promise<void> => {
    absences.forget(serverId)
    failures.forget(serverId)
    const slot = slots.get(serverId)
    if (slot === undefined) return
    try {
      await build(serverId, slot)
    } catch (error) {
      logger.error({ err: error, serverId }, 'a server could not be rebuilt: what it was before stays')
    }
  }

  const outages = createSoon(OUTAGE_MS, serverId => void refresh(serverId))

  return {
    /**
     * A server ready for requests, mounted if it was not; undefined when there is none. At once when it is mounted.
     * Rejects when a first mount fails, and with RecentFailure for a moment after.
     */
    find: (serverId: string): Mounted | undefined | Promise<Mounted | undefined> => {
      const slot = slots.get(serverId)
      if (slot === undefined) {
        if (absences.has(serverId)) return undefined
        if (failures.has(serverId))
          return Promise.reject(new RecentFailure('this server could not be mounted just now'))
        return mount(serverId)
      }
      slot.lastUsedAt = now()
      return slot.mounted ?? slot.building
    },
    /** Resolves once what the server was at the time of the call, or is since, is live. Not mounted: nothing to do. */
    refresh,
    /** As `refresh`, after an upstream has failed or works again: soon, and only where clients are told of it. */
    refreshOutages: (serverId: string): void => {
      const mounted = slots.get(serverId)?.mounted
      // One that is being mounted may have been compiled before.
      if (slots.has(serverId) && mounted?.router.server.tellsOutages !== false) outages.add(serverId)
    },
    /** Forgets a server that is gone; its streams end. */
    release,
    /** Builds everything anew, after changes may have been missed. */
    invalidateAll: async (): Promise<void> => {
      absences.clear()
      failures.clear()
      const waiting = [...slots.keys()].values()
      const work = async (): Promise<void> => {
        for (const serverId of waiting) await refresh(serverId)
      }
      await Promise.all(Array.from({ length: BUILDS_AT_ONCE }, work))
    },
    /** Ends the streams of a user, or of anybody, who may not have them any more. */
    checkAccess: (userId: string | undefined): void => {
      for (const { mounted } of slots.values()) mounted?.checkAccess(userId)
    },
    openStreams: (serverId: string): number => slots.get(serverId)?.mounted?.openStreams ?? 0,
    /** Of all servers together. */
    openStreamCount: (): number =>
      [...slots.values()].reduce((sum, { mounted }) => sum + (mounted?.openStreams ?? 0), 0),
    mountedCount: (): number => slots.size,
    get isClosing() {
      return isClosing
    },
    /** Ends every stream; calls under way go on. No new streams are opened from here. */
    close: (): void => {
      isClosing = true
      clearInterval(idleTimer)
      clearInterval(beatTimer)
      outages.clear()
      for (const { mounted } of slots.values()) mounted?.end()
    },
  }
}
export type McpRegistry = ReturnType<typeof createMcpRegistry>
