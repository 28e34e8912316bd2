import type { Database } from '../lib/db/client.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { failure, type Result } from '../lib/kernel/result.ts'
import type { OpenGlobals, ResolutionFault } from './config/compiled-config.ts'
import { resolveConfig } from './config/resolve-config.ts'
import type { LoadedUpstream } from './connection/upstream-connections.ts'
import type { AccountMark } from './oauth-client/account.ts'
import { findAccountLack } from './oauth-client/account-words.ts'
import { readSharedMarks } from './oauth-client/accounts.store.ts'
import { isOAuth, isPerCaller, type ResolvedConfig, type Upstream } from './upstream.ts'
import { noUpstream } from './upstream-refusals.ts'
import * as store from './upstreams.store.ts'

/** Opens the globals of a server, its secrets too. */
export type OpenGlobalsOf = (serverId: string) => Promise<OpenGlobals>

export type UpstreamLoadingParts = {
  db: Database
  openGlobals: OpenGlobalsOf
  /** Whether commands of this machine may be run at all. */
  allowStdio: boolean
}

/** An upstream that goes by an account that all share is not to be reached while there is none that is good. */
const withAccount = (loaded: LoadedUpstream, shared: ReadonlyMap<string, AccountMark>): LoadedUpstream => {
  const { upstream, resolved } = loaded
  const { config } = upstream
  if (!isOAuth(config.auth) || isPerCaller(config) || !resolved.ok) return loaded
  const account = shared.get(upstream.id)
  const lack = findAccountLack(account)
  if (lack !== undefined) return { upstream, resolved: failure({ reason: 'not_connected', message: lack }) }
  return { ...loaded, accountKey: account?.connectedAt.toISOString() }
}

/** Upstreams as they are reached: with their secrets, and whoever's they are. For connections alone. */
export const createUpstreamLoading = ({ db, openGlobals, allowStdio }: UpstreamLoadingParts) => {
  const resolve = (upstream: Upstream, globals: OpenGlobals): Result<ResolvedConfig, ResolutionFault> => {
    if (upstream.config.transport !== 'stdio' || allowStdio) return resolveConfig(upstream.config, globals)
    const message = 'Commands of this machine may not be run any more: PATCHBAY_ALLOW_STDIO is not true.'
    return failure({ reason: 'not_allowed', message })
  }

  return {
    /** For the connection alone: with the secrets, as all is at this moment. Throws `not_found` where it is gone. */
    resolveUpstream: async (id: string): Promise<Result<ResolvedConfig, ResolutionFault>> => {
      const upstream = await store.findUpstreamOfAnybody(db, id)
      if (upstream === undefined) throw noUpstream()
      return resolve(upstream, await openGlobals(upstream.serverId))
    },

    /** As `resolveUpstream`; throws `conflict` with why there is none. */
    getResolved: async (id: string): Promise<ResolvedConfig> => {
      const upstream = await store.findUpstreamOfAnybody(db, id)
      if (upstream === undefined) throw noUpstream()
      const resolved = resolve(upstream, await openGlobals(upstream.serverId))
      if (resolved.ok) return resolved.value
      throw new AppError('conflict', resolved.error.message)
    },

    /** As `resolveUpstream`, all of a server's; none where it is gone. */
    loadUpstreams: async (serverId: string): Promise<LoadedUpstream[]> => {
      const upstreams = await store.listUpstreamsOfAnybody(db, serverId)
      if (upstreams.length === 0) return []
      const globals = await openGlobals(serverId)
      const shared = await readSharedMarks(
        db,
        upstreams.flatMap(({ id, config }) => (isOAuth(config.auth) ? id : [])),
      )
      return upstreams.map(upstream => withAccount({ upstream, resolved: resolve(upstream, globals) }, shared))
    },

    /** As `loadUpstreams`, of a server that passes requests on; none of any other. */
    loadPassedOnTo: async (serverId: string): Promise<LoadedUpstream[]> => {
      const upstreams = await store.listUpstreamsPassedOnTo(db, serverId)
      if (upstreams.length === 0) return []
      const globals = await openGlobals(serverId)
      return upstreams.map(upstream => ({ upstream, resolved: resolve(upstream, globals) }))
    },

    listEagerServerIds: (): Promise<string[]> => store.listEagerServerIds(db),
  }
}
