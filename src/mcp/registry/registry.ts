import { bulkhead } from 'cockatiel'
import { LRUCache } from 'lru-cache'
import type { CompiledServer } from '../../runtime/call/compiled-server.ts'
import { createMountedServer, type MountedServer } from './mounted-server.ts'
import { buildRouter, type Router, type ServerInfo } from './router.ts'

/** The methods of pino's logger that are used here. */
export type McpLogger = {
  error: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}

export type RegistryOptions = {
  /** Compiles the current state of a server. Returns undefined if the server does not exist. */
  compile: (serverId: string) => Promise<CompiledServer | undefined>
  /** Runs before a server is mounted and does not count as a concurrent build. Never rejects. */
  prepare?: (serverId: string) => Promise<void>
  serverInfo: ServerInfo
  /** Milliseconds since 1970. */
  now: () => number
  /** Servers that have had no requests and no open streams for this long are unmounted. */
  idleMs: number
  /** Above this number, the least recently used servers without open streams are unmounted. */
  maxMounted: number
  logger: McpLogger
}

/** Interval of keep-alive comments. Proxies close silent connections after 60 s. */
const BEAT_INTERVAL_MS = 15_000

/** Maximum number of concurrent builds. Building a large server blocks the thread that serves calls. */
const BUILDS_AT_ONCE = 2

/** Delay before rebuilding after an outage. Upstreams often fail together, and one rebuild covers them all. */
const OUTAGE_MS = 250

/** How long a server that was not found or failed to mount is not looked up again. This protects the database. */
const NEGATIVE_TTL_MS = 2_000
/** Limits memory use, because anyone can send unknown ids. */
const MAX_NEGATIVES = 1_000

/** The server failed to mount a moment ago, and mounting is not retried yet. */
export class RecentFailure extends Error {
  override name = 'RecentFailure'
}

/** A requested build. If it has not started, it will include every change made so far. */
type Build = { hasStarted: boolean }

type Slot = {
  mounted: MountedServer | undefined
  /** The latest requested build and its result, until the build is done. Each server runs one build at a time. */
  newest: Build | undefined
  building: Promise<MountedServer | undefined> | undefined
  lastUsedAt: number
  isReleased: boolean
}

/**
 * Creates a registry that mounts servers on first use and replaces their routers when the servers change. A request
 * reads the router once and uses it to the end.
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
  const negativeCache = { max: MAX_NEGATIVES, ttl: NEGATIVE_TTL_MS, ttlResolution: 0, perf: { now } }
  const missing = new LRUCache<string, true>(negativeCache)
  const failures = new LRUCache<string, RecentFailure>(negativeCache)
  const builds = bulkhead(BUILDS_AT_ONCE, Number.POSITIVE_INFINITY)
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
      // The server may have been created after this build read the database. If so, the next build finds it.
      if (slot.newest !== own) return
      release(serverId)
      missing.set(serverId, true)
      return
    }
    if (slot.mounted === undefined) slot.mounted = createMountedServer(serverId, router)
    else slot.mounted.swap(router)
  }

  const run = async (serverId: string, slot: Slot, own: Build): Promise<MountedServer | undefined> => {
    own.hasStarted = true
    if (slot.isReleased) return undefined
    try {
      const server = await compile(serverId)
      apply(serverId, slot, own, server && (await buildRouter(server, serverInfo)))
    } catch (error) {
      if (slot.mounted === undefined && slot.newest === own && !slot.isReleased) {
        slots.delete(serverId)
        failures.set(serverId, new RecentFailure('this server failed to mount a moment ago', { cause: error }))
      }
      throw error
    }
    return slot.mounted
  }

  const runNext = async (serverId: string, slot: Slot, own: Build, before: Promise<unknown> | undefined) => {
    // The callers that await the previous build receive its error.
    if (before !== undefined) await before.catch(() => {})
    return builds.execute(() => run(serverId, slot, own))
  }

  /** Returns a build that starts after this call. All callers share a build that has not started yet. */
  const build = (serverId: string, slot: Slot, ready?: Promise<void>): Promise<MountedServer | undefined> => {
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
    // Unmounts a tenth of the servers at once, so that not every mount has to sort them.
    for (const [serverId] of oldest.slice(0, Math.ceil(maxMounted / 10))) release(serverId)
  }

  const mount = (serverId: string): Promise<MountedServer | undefined> => {
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

  const unmountIdle = (): void => {
    const before = now() - idleMs
    for (const [serverId, slot] of slots) {
      if (slot.lastUsedAt < before && isIdle(slot)) release(serverId)
    }
  }
  const idleTimer = setInterval(unmountIdle, Math.max(idleMs / 2, 1_000))
  const beatTimer = setInterval(() => {
    for (const { mounted } of slots.values()) mounted?.beat()
  }, BEAT_INTERVAL_MS)
  idleTimer.unref()
  beatTimer.unref()

  const refresh = async (serverId: string): Promise<void> => {
    missing.delete(serverId)
    failures.delete(serverId)
    const slot = slots.get(serverId)
    if (slot === undefined) return
    try {
      await build(serverId, slot)
    } catch (error) {
      logger.error({ err: error, serverId }, 'could not rebuild an MCP server; its previous state stays in use')
    }
  }

  const outages = new Set<string>()
  let outageTimer: NodeJS.Timeout | undefined
  const refreshAfterOutages = (): void => {
    outageTimer = undefined
    for (const serverId of outages) void refresh(serverId)
    outages.clear()
  }

  return {
    /**
     * Returns a mounted server, mounting it if necessary, or undefined if it does not exist. Synchronous if the server
     * is already mounted. Rejects if mounting fails, and rejects with RecentFailure for a short time after that.
     */
    find: (serverId: string): MountedServer | undefined | Promise<MountedServer | undefined> => {
      const slot = slots.get(serverId)
      if (slot === undefined) {
        if (missing.has(serverId)) return undefined
        const failure = failures.get(serverId)
        return failure === undefined ? mount(serverId) : Promise.reject(failure)
      }
      slot.lastUsedAt = now()
      return slot.mounted ?? slot.building
    },
    /**
     * Resolves when the server runs in its state at the time of the call or later. Does nothing if it is not mounted.
     */
    refresh,
    /**
     * Like `refresh`, for use after an upstream failed or recovered. Debounced. Does nothing if the server does not
     * tell clients about outages.
     */
    refreshOutages: (serverId: string): void => {
      const mounted = slots.get(serverId)?.mounted
      // A server that is being mounted may have been compiled before the change.
      if (isClosing || !slots.has(serverId) || mounted?.router.server.tellsOutages === false) return
      outages.add(serverId)
      outageTimer ??= setTimeout(refreshAfterOutages, OUTAGE_MS).unref()
    },
    /** Unmounts a deleted server and ends its streams. */
    release,
    /** Rebuilds all servers, for use when changes may have been missed. */
    invalidateAll: async (): Promise<void> => {
      missing.clear()
      failures.clear()
      await Promise.all([...slots.keys()].map(refresh))
    },
    /** Checks the access of the callers of all open streams again, or of only one user. */
    checkAccess: (userId: string | undefined): void => {
      for (const { mounted } of slots.values()) mounted?.checkAccess(userId)
    },
    openStreams: (serverId: string): number => slots.get(serverId)?.mounted?.openStreams ?? 0,
    /** Number of open streams across all servers. */
    openStreamCount: (): number =>
      [...slots.values()].reduce((sum, { mounted }) => sum + (mounted?.openStreams ?? 0), 0),
    mountedCount: (): number => slots.size,
    get isClosing() {
      return isClosing
    },
    /** Ends all streams and opens no new ones. Running calls continue. */
    close: (): void => {
      isClosing = true
      clearInterval(idleTimer)
      clearInterval(beatTimer)
      clearTimeout(outageTimer)
      for (const { mounted } of slots.values()) mounted?.end()
    },
  }
}
export type McpRegistry = ReturnType<typeof createMcpRegistry>
