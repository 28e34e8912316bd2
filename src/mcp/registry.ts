import type { CompiledServer } from '../execution/index.ts'
import { createAbsences } from './absences.ts'
import { createMounted, type Mounted } from './mounted.ts'
import { buildRouter, type ServerInfo } from './router.ts'

/** What this folder writes to the log; pino's logger is one. */
export type McpLogger = {
  error: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}

export type RegistryOptions = {
  /** A server as it is now; undefined when there is none of this id. */
  compile: (serverId: string) => Promise<CompiledServer | undefined>
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

/** Builds when everything is built anew: the database has other things to do. */
const BUILDS_AT_ONCE = 8

type Slot = {
  mounted: Mounted | undefined
  /** Builds are numbered as they start; what is live came from build number `applied`. */
  started: number
  applied: number
  first: Promise<Mounted | undefined> | undefined
  lastUsedAt: number
  isReleased: boolean
}

/**
 * Mounts servers on their first use and swaps their routers when they change. The only one that holds them:
 * a request reads one reference and keeps it to its end.
 */
export const createMcpRegistry = ({ compile, serverInfo, now, idleMs, maxMounted, logger }: RegistryOptions) => {
  const slots = new Map<string, Slot>()
  const absences = createAbsences(now)
  let isClosing = false

  const release = (serverId: string): void => {
    const slot = slots.get(serverId)
    if (slot === undefined) return
    slots.delete(serverId)
    slot.isReleased = true
    slot.mounted?.end()
  }

  /** A build that a newer one has overtaken changes nothing. */
  const apply = (serverId: string, slot: Slot, turn: number, server: CompiledServer | undefined): void => {
    if (slot.isReleased || turn < slot.applied) return
    if (server === undefined) {
      // It may have been made after this build looked: then the newer build finds it.
      if (turn < slot.started) return
      release(serverId)
      absences.add(serverId)
      return
    }
    slot.applied = turn
    const router = buildRouter(server, serverInfo)
    if (slot.mounted === undefined) slot.mounted = createMounted(serverId, router)
    else slot.mounted.swap(router)
  }

  const run = async (serverId: string, slot: Slot): Promise<Mounted | undefined> => {
    const turn = ++slot.started
    try {
      apply(serverId, slot, turn, await compile(serverId))
    } catch (error) {
      if (slot.mounted === undefined && turn === slot.started) slots.delete(serverId)
      throw error
    }
    return slot.mounted
  }
  /** Until the first build is done, requests wait for the newest one. */
  const build = (serverId: string, slot: Slot): Promise<Mounted | undefined> => {
    const building = run(serverId, slot)
    if (slot.mounted === undefined) slot.first = building
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
      started: 0,
      applied: 0,
      first: undefined,
      lastUsedAt: now(),
      isReleased: false,
    }
    slots.set(serverId, slot)
    return build(serverId, slot)
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
    const slot = slots.get(serverId)
    if (slot === undefined) return
    try {
      await build(serverId, slot)
    } catch (error) {
      logger.error({ err: error, serverId }, 'a server could not be rebuilt: what it was before stays')
    }
  }

  return {
    /**
     * A server ready for requests, mounted if it was not; undefined when there is none. At once when it is mounted.
     * Rejects when a first mount fails.
     */
    find: (serverId: string): Mounted | undefined | Promise<Mounted | undefined> => {
      const slot = slots.get(serverId)
      if (slot === undefined) return absences.has(serverId) ? undefined : mount(serverId)
      slot.lastUsedAt = now()
      return slot.mounted ?? slot.first
    },
    /** Resolves once what the server was at the time of the call, or is since, is live. Not mounted: nothing to do. */
    refresh,
    /** Forgets a server that is gone; its streams end. */
    release,
    /** Builds everything anew, after changes may have been missed. */
    invalidateAll: async (): Promise<void> => {
      absences.clear()
      const waiting = [...slots.keys()].values()
      const work = async (): Promise<void> => {
        for (const serverId of waiting) await refresh(serverId)
      }
      await Promise.all(Array.from({ length: BUILDS_AT_ONCE }, work))
    },
    openStreams: (serverId: string): number => slots.get(serverId)?.mounted?.openStreams ?? 0,
    mountedCount: (): number => slots.size,
    get isClosing() {
      return isClosing
    },
    /** Ends every stream; calls under way go on. No new streams are opened from here. */
    close: (): void => {
      isClosing = true
      clearInterval(idleTimer)
      clearInterval(beatTimer)
      for (const { mounted } of slots.values()) mounted?.end()
    },
  }
}
export type McpRegistry = ReturnType<typeof createMcpRegistry>
