import { join } from 'node:path'
import type { Database } from './platform/db/index.ts'
import type { Changes, EventBus } from './platform/events/index.ts'
import type { Logger } from './platform/logger.ts'
import { createReverseProxy, type ReverseProxyOptions } from './platform/net/index.ts'
import type { Sealing } from './platform/sealing.ts'
import type { Settings } from './platform/settings.ts'
import { createGlobalOpener, findServerToCall, getServerFor, listGlobals, listNamesAtWork } from './servers/index.ts'
import {
  type ConnectionLimits,
  createPassthroughs,
  createStateDigest,
  createStdioProcesses,
  createToolCounts,
  createUpstreamAccounts,
  createUpstreamCatalogues,
  createUpstreamConnections,
  createUpstreamExchange,
  createUpstreamLoading,
  type createUpstreamOAuth,
  createUpstreamOffers,
  createUpstreamOutages,
  createUpstreamReviews,
  createUpstreamService,
  type Upstream,
  type UpstreamState,
} from './upstreams/index.ts'
import { VERSION } from './version.ts'

export type UpstreamServicesParts = {
  settings: Settings
  logger: Logger
  db: Database
  changes: Changes
  bus: EventBus
  sealing: Sealing
  network: Omit<ReverseProxyOptions, 'lookup'>
  oauth: ReturnType<typeof createUpstreamOAuth>
}

/** All that has to do with upstreams, built once. Ends what an earlier Patchbay has left running. */
export const buildUpstreamServices = (
  { settings, logger, db, changes, bus, sealing, network, oauth }: UpstreamServicesParts,
  connectionLimits: Partial<ConnectionLimits> | undefined,
) => {
  const { limits } = settings
  const upstreams = createUpstreamService({
    db,
    changes,
    servers: { getServerFor, listGlobals },
    clients: oauth.clients,
    revocations: oauth.revocations,
    allowStdio: settings.allowStdio,
    maxTimeoutMs: limits.maxToolTimeoutMs,
  })
  const loading = createUpstreamLoading({
    db,
    openGlobals: createGlobalOpener({ db, sealing }),
    allowStdio: settings.allowStdio,
  })

  const processes = createStdioProcesses({
    directory: join(settings.dataDirectory, 'processes'),
    environment: settings.commandEnvironment,
  })
  // Before any is started: what an earlier Patchbay could not end.
  const reaped = processes.reap()
  if (reaped > 0) logger.warn({ reaped }, 'processes of upstreams were left behind, and are ended')
  const upstreamConnections = createUpstreamConnections({
    load: loading.loadUpstreams,
    listEagerServerIds: loading.listEagerServerIds,
    accounts: oauth.accounts,
    parts: {
      processes,
      network: {
        ...network,
        maxRedirects: limits.maxRedirects,
        maxResponseBytes: limits.maxResponseBytes,
      },
      clientInfo: { name: 'patchbay', version: VERSION },
      ...(connectionLimits && { limits: connectionLimits }),
    },
    bus,
  })
  const upstreamCatalogues = createUpstreamCatalogues({
    db,
    changes,
    connections: upstreamConnections,
    onTrouble: (error, id) => logger.error({ err: error, id }, 'what an upstream offers could not be kept'),
  })

  const upstreamAccounts = createUpstreamAccounts({
    db,
    changes,
    sealing,
    oauth,
    resolve: loading.getResolved,
    getServerToBuild: (tx, actor, serverId) => getServerFor(tx, actor, serverId, 'build'),
    findServerToCall,
    onConnected: upstreamCatalogues.refreshSoon,
  })

  const upstreamReviews = createUpstreamReviews({ db, changes, catalogues: upstreamCatalogues, getServerFor })
  const upstreamOffers = createUpstreamOffers({
    catalogues: upstreamCatalogues,
    reviews: upstreamReviews,
    counts: createToolCounts({ db, catalogues: upstreamCatalogues, reviews: upstreamReviews }),
    listUpstreams: upstreams.listUpstreamsOfServer,
    listPassedOnTo: upstreams.listUpstreamsPassedOnTo,
    findPresentation: upstreams.findPresentation,
    listToolNames: serverId => listNamesAtWork(db, serverId),
  })

  const upstreamOutages = createUpstreamOutages({ connections: upstreamConnections, bus })
  const upstreamExchange = createUpstreamExchange(upstreamConnections)

  const reverseProxy = createReverseProxy(network)
  const passthroughs = createPassthroughs({ probe: reverseProxy.probe, accounts: oauth.accounts, bus })

  /** How an upstream is, in this process: by its connection, or by the requests that are passed on to it. */
  const upstreamStateOf = (upstream: Upstream): UpstreamState =>
    passthroughs.stateOf(upstream) ?? upstreamConnections.stateOf(upstream)

  return {
    services: {
      upstreams,
      upstreamLoading: loading,
      upstreamConnections,
      reverseProxy,
      upstreamStateOf,
      upstreamStates: createStateDigest({ listHeld: upstreamConnections.listHeld, stateOf: upstreamStateOf }),
      upstreamCatalogues,
      upstreamAccounts,
      upstreamOutages,
      upstreamReviews,
      upstreamOffers,
    },
    /** What running a tool takes of it. */
    forExecution: {
      passthroughs,
      loadPassedOnTo: loading.loadPassedOnTo,
      connections: upstreamConnections,
      exchange: upstreamExchange,
      catalogues: upstreamCatalogues,
      outages: upstreamOutages,
      reviews: upstreamReviews,
      offers: upstreamOffers,
    },
    close: async (): Promise<void> => {
      await upstreamExchange.close()
      await Promise.all([upstreamCatalogues.close(), upstreamConnections.close()])
      passthroughs.close()
      await reverseProxy.close()
    },
  }
}
