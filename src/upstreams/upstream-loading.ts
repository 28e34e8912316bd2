import type { Database } from '../lib/db/client.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import { failure, type Result } from '../lib/kernel/result.ts'
import { type Suspensions, suspensionOfServer } from '../lib/kernel/suspensions.ts'
import type { DecryptedGlobals, ResolutionFault } from './config/compiled-config.ts'
import { resolveConfig, type ServerValues } from './config/resolve-config.ts'
import type { LoadedUpstream } from './connection/loaded-upstreams.ts'
import type { AccountInfo } from './oauth-client/account.ts'
import { findSharedAccountProblem } from './oauth-client/account-messages.ts'
import { listSharedAccounts } from './oauth-client/accounts.store.ts'
import { isOAuth, isPerCaller, type ResolvedConfig, type Upstream } from './upstream.ts'
import { noUpstream } from './upstream-refusals.ts'
import * as store from './upstreams.store.ts'

/** Returns a server's decrypted globals, including secrets. */
export type OpenGlobalsOf = (serverId: string) => Promise<DecryptedGlobals>

type UpstreamLoadingParts = {
  db: Database
  openGlobals: OpenGlobalsOf
  /** Whether upstreams may run commands on this machine. */
  allowStdio: boolean
  suspensions: Suspensions
}

/** Adds the shared account. An upstream without a working account cannot be used. */
const withAccount = (loaded: LoadedUpstream, shared: ReadonlyMap<string, AccountInfo>): LoadedUpstream => {
  const { upstream, resolved } = loaded
  const { config } = upstream
  if (!isOAuth(config.auth) || isPerCaller(config) || !resolved.ok) return loaded
  const account = shared.get(upstream.id)
  const lack = findSharedAccountProblem(account)
  if (lack !== undefined) return { upstream, resolved: failure({ reason: 'not_connected', message: lack }) }
  return { ...loaded, accountKey: account?.connectedAt.toISOString() }
}

/** Loads upstreams with their secrets, for connections only. Does not check access. */
export const createUpstreamLoading = ({ db, openGlobals, allowStdio, suspensions }: UpstreamLoadingParts) => {
  const openServer = async (serverId: string): Promise<ServerValues> => ({
    organizationId: await store.findOrganizationId(db, serverId),
    globals: await openGlobals(serverId),
  })

  /** Returns why the upstream may not be connected. Its connection is closed, and its process ends. */
  const refusalOf = ({ serverId, config }: Upstream, { organizationId }: ServerValues): string | undefined => {
    if (config.transport === 'stdio' && !allowStdio) {
      return 'Commands cannot be run because PATCHBAY_ALLOW_STDIO is not true.'
    }
    return suspensionOfServer(suspensions, { serverId, organizationId })
  }

  const resolve = (upstream: Upstream, server: ServerValues): Result<ResolvedConfig, ResolutionFault> => {
    const message = refusalOf(upstream, server)
    return message === undefined ? resolveConfig(upstream.config, server) : failure({ reason: 'not_allowed', message })
  }

  /** Resolves the current configuration, including secrets. For connections only. Throws `not_found`. */
  const resolveUpstream = async (id: string): Promise<Result<ResolvedConfig, ResolutionFault>> => {
    const upstream = orThrow(await store.findUpstreamOfAnybody(db, id), noUpstream)
    return resolve(upstream, await openServer(upstream.serverId))
  }

  return {
    resolveUpstream,

    /** Works like `resolveUpstream`, but throws `conflict` if the configuration cannot be resolved. */
    getResolved: async (id: string): Promise<ResolvedConfig> => {
      const resolved = await resolveUpstream(id)
      if (resolved.ok) return resolved.value
      throw new AppError('conflict', resolved.error.message)
    },

    /** Loads a server's upstreams. Returns none for a removed or passthrough server. */
    loadUpstreams: async (serverId: string): Promise<LoadedUpstream[]> => {
      const upstreams = await store.listUpstreamsOfAnybody(db, serverId)
      if (upstreams.length === 0) return []
      const server = await openServer(serverId)
      const shared = await listSharedAccounts(
        db,
        upstreams.flatMap(({ id, config }) => (isOAuth(config.auth) ? id : [])),
      )
      return upstreams.map(upstream => withAccount({ upstream, resolved: resolve(upstream, server) }, shared))
    },

    /** Loads a passthrough server's upstreams. Returns none for any other server. */
    loadPassedOnTo: async (serverId: string): Promise<LoadedUpstream[]> => {
      const upstreams = await store.listUpstreamsPassedOnTo(db, serverId)
      if (upstreams.length === 0) return []
      const server = await openServer(serverId)
      return upstreams.map(upstream => ({ upstream, resolved: resolve(upstream, server) }))
    },
  }
}

export type UpstreamLoading = ReturnType<typeof createUpstreamLoading>
