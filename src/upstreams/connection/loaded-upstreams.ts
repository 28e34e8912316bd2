import type { Result } from '../../lib/kernel/result.ts'
import type { ResolutionFault } from '../config/compiled-config.ts'
import { connectSettingsOf, type ResolvedConfig, type Upstream, type UpstreamState } from '../upstream.ts'
import type { UpstreamConnection } from './connection.ts'
import { createMessageLimit, createOrganizationLimits, type MessageLimit } from './message-limit.ts'

/** An upstream with its current resolved configuration, or with the reason that there is none. */
export type LoadedUpstream = {
  upstream: Upstream
  resolved: Result<ResolvedConfig, ResolutionFault>
  /** Changes when a different account is connected to the upstream. */
  accountKey?: string | undefined
}

export type FailedState = Extract<UpstreamState, { kind: 'failed' }>

/** A loaded upstream and what belongs to it for as long as its connection may be kept. */
export type Entry = LoadedUpstream & {
  /** Covers everything that a connection depends on. Contains secrets, so it must never be shown. */
  key: string
  /** Created on first use. */
  connection: UpstreamConnection | undefined
  messageLimit: MessageLimit
  /** Why the last attempt to fetch the lists failed, although the upstream was connected. */
  listFault: FailedState | undefined
}

const keyOf = ({ upstream, resolved, accountKey }: LoadedUpstream): string => {
  if (!upstream.isEnabled) return ''
  if (!resolved.ok) return JSON.stringify(resolved.error)
  return JSON.stringify([connectSettingsOf(resolved.value), accountKey])
}

/** An entry that was dropped, and what replaces it. */
export type Replacement = { old: Entry; by: Entry | undefined }

export type LoadedUpstreamsOptions = {
  /** Loads all upstreams of a server with its current globals. Returns none if the server no longer exists. */
  load: (serverId: string) => Promise<readonly LoadedUpstream[]>
  /** Called when a notification that lists have changed was dropped. */
  onListsMissed: (upstreamId: string) => void
  /** Called after a server is loaded, with all of its entries and those that were dropped. */
  onUpdate: (entries: readonly Entry[], replaced: readonly Replacement[]) => void
}

/**
 * Keeps the upstreams of servers as last loaded. An entry stays the same object as long as everything that its
 * connection depends on does.
 */
export const createLoadedUpstreams = ({ load, onListsMissed, onUpdate }: LoadedUpstreamsOptions) => {
  const servers = new Map<string, Map<string, Entry>>()
  const byId = new Map<string, Entry>()
  const syncing = new Map<string, Promise<unknown>>()
  const limitOf = createOrganizationLimits()
  let isClosed = false

  const createEntry = (loaded: LoadedUpstream, key: string): Entry => ({
    ...loaded,
    key,
    connection: undefined,
    listFault: undefined,
    messageLimit: createMessageLimit({
      onListsMissed: () => onListsMissed(loaded.upstream.id),
      organization: limitOf(loaded.resolved.ok ? loaded.resolved.value.organizationId : undefined),
    }),
  })

  const update = (serverId: string, loaded: readonly LoadedUpstream[]): void => {
    const before = servers.get(serverId) ?? new Map<string, Entry>()
    const after = new Map<string, Entry>()
    const replaced: Replacement[] = []
    for (const each of loaded) {
      const { id } = each.upstream
      const key = keyOf(each)
      const known = before.get(id)
      before.delete(id)
      // Update the existing object, because the connection reads it.
      const entry = known?.key === key ? Object.assign(known, each) : createEntry(each, key)
      if (known !== undefined && known !== entry) replaced.push({ old: known, by: entry })
      after.set(id, entry)
      byId.set(id, entry)
    }
    for (const [id, old] of before) {
      byId.delete(id)
      replaced.push({ old, by: undefined })
    }
    if (after.size === 0) servers.delete(serverId)
    else servers.set(serverId, after)
    onUpdate([...after.values()], replaced)
  }

  /**
   * Reloads a server's upstreams and returns them. Each concurrent caller waits for a new reload, because the one in
   * progress may have read older data.
   */
  const sync = async (serverId: string): Promise<readonly Upstream[]> => {
    const before = syncing.get(serverId)
    const own = (async () => {
      await before?.catch(() => {})
      const loaded = await load(serverId)
      if (!isClosed) update(serverId, loaded)
      return loaded.map(({ upstream }) => upstream)
    })()
    syncing.set(serverId, own)
    try {
      return await own
    } finally {
      if (syncing.get(serverId) === own) syncing.delete(serverId)
    }
  }

  return {
    sync,
    /** Reloads a server's upstreams if they were loaded before. */
    syncKnown: async (serverId: string): Promise<void> => {
      if (servers.has(serverId)) await sync(serverId)
    },
    /** Reloads the upstreams of all servers, one after the other. */
    syncAll: async (): Promise<void> => {
      for (const serverId of [...servers.keys()]) await sync(serverId)
    },
    find: (upstreamId: string): Entry | undefined => byId.get(upstreamId),
    list: (): readonly Entry[] => [...byId.values()],
    /** Ignores later reloads. Resolves once those in progress have ended. */
    close: async (): Promise<void> => {
      isClosed = true
      await Promise.allSettled(syncing.values())
    },
  }
}
