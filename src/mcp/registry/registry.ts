import { bulkhead } from 'cockatiel'
import { LRUCache } from 'lru-cache'
import type { CompiledServer } from '../../runtime/call/compiled-server.ts'
import { createMountedServer, type MountedServer } from './mounted-server.ts'
import { buildRouter, type Router, type ServerInfo } from './router.ts'

/** The logger used here; pino's fits. */
export type McpLogger = {
  error: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}

export type RegistryOptions = {
  /** Compiles the current state of a server. Undefined if there is no such server. */
  compile: (serverId: string) => Promise<CompiledServer | undefined>
  /** Runs before a server is mounted, outside the limit on concurrent builds. Never rejects. */
  prepare?: (serverId: string) => Promise<void>
  serverInfo: ServerInfo
  /** Milliseconds since 1970. */
  now: () => number
  /** Servers without requests and open streams for this long are unmounted. */
  idleMs: number
  /** Above this number the least recently used are unmounted, except those with open streams. */
  maxMounted: number
  logger: McpLogger
}

/** Interval of keep-alive comments. Proxies close silent connections after 60 s. */
const BEAT_INTERVAL_MS = 15_000

/** Concurrent builds. A large server takes time on the thread that serves calls. */
const BUILDS_AT_ONCE = 2

/** Upstreams often fail together, because something they share is down. */
const OUTAGE_MS = 250

/** How long servers that were not found or failed are not looked up again. Protects the database. */
const NEGATIVE_TTL_MS = 2_000
/** Anybody can send any number of unknown ids. */
const MAX_NEGATIVES = 1_000

/** The first mount failed a moment ago and is not tried again yet. */
export class RecentFailure extends Error {
  override name = 'RecentFailure'
}

/** A build that has not started yet will see every change made so far. */
type Build = { hasStarted: boolean }

type Slot = {
  mounted: MountedServer | undefined
  /** The latest requested build and its result, while it runs. Builds of one server run one after the other. */
  newest: Build | undefined
  building: Promise<MountedServer | undefined> | undefined
  lastUsedAt: number
  isReleased: boolean
}

/**
 * Mounts servers on first use and swaps their routers when they change. It alone holds them; a request reads the
 * reference once and keeps it.
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
  const failures = new LRUCache<string, true>(negativeCache)
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
      // The server may have been created after this build read the database; then the next build finds it.
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
        failures.set(serverId, true)
      }
      throw error
    }
    return slot.mounted
  }

  const runNext = async (serverId: string, slot: Slot, own: Build, before: Promise<unknown> | undefined) => {
    // Whoever waits for the previous build learns how it ended.
    if (before !== undefined) await before.catch(() => {})
    return builds.execute(() => run(serverId, slot, own))
  }

  /** Returns a build that starts from now on. One that is waiting to start serves everybody who asks until then. */
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
    // Frees a tenth at once, so that not every mount has to sort.
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
      logger.error({ err: error, serverId }, 'could not rebuild an MCP server; its previous state stays live')
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
     * Returns a mounted server, mounting it if necessary; undefined if there is none. Synchronous if it is mounted.
     * Rejects if its first mount fails, and with RecentFailure for a moment afterwards.
     */
    find: (serverId: string): MountedServer | undefined | Promise<MountedServer | undefined> => {
      const slot = slots.get(serverId)
      if (slot === undefined) {
        if (missing.has(serverId)) return undefined
        if (failures.has(serverId))
          return Promise.reject(new RecentFailure('this server could not be mounted just now'))
        return mount(serverId)
      }
      slot.lastUsedAt = now()
      return slot.mounted ?? slot.building
    },
    /**
     * Resolves when the server's state at the time of the call, or a later one, is live. Does nothing if it is not
     * mounted.
     */
    refresh,
    /**
     * Like `refresh`, after an upstream failed or recovered: debounced, and only if the server tells clients about
     * outages.
     */
    refreshOutages: (serverId: string): void => {
      const mounted = slots.get(serverId)?.mounted
      // One that is being mounted may have been compiled before the change.
      if (isClosing || !slots.has(serverId) || mounted?.router.server.tellsOutages === false) return
      outages.add(serverId)
      outageTimer ??= setTimeout(refreshAfterOutages, OUTAGE_MS).unref()
    },
    /** Unmounts a deleted server and ends its streams. */
    release,
    /** Rebuilds all servers, after changes may have been missed. */
    invalidateAll: async (): Promise<void> => {
      missing.clear()
      failures.clear()
      await Promise.all([...slots.keys()].map(refresh))
    },
    /** Ends the streams that a user, or anybody, may no longer have. */
    checkAccess: (userId: string | undefined): void => {
      for (const { mounted } of slots.values()) mounted?.checkAccess(userId)
    },
    openStreams: (serverId: string): number => slots.get(serverId)?.mounted?.openStreams ?? 0,
    /** The sum over all servers. */
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
