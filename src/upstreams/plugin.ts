import { join } from 'node:path'
import type { Database } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import type { Suspensions } from '../lib/kernel/suspensions.ts'
import type { HttpClientOptions } from '../lib/outbound/client.ts'
import type { MemoryShares } from '../lib/outbound/memory-shares.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import { VERSION } from '../lib/process/version.ts'
import { createUpstreamCatalogues } from './catalogue/catalogues.ts'
import type { CompileOutputSchemas } from './catalogue/output-schemas.ts'
import { createUpstreamOffers, type UpstreamOffersParts } from './catalogue/upstream-offers.ts'
import { createOutageEvents } from './connection/outage-events.ts'
import type { ConnectionLimits } from './connection/shared-connection.ts'
import { createStdioProcesses } from './connection/stdio-processes.ts'
import { createUpstreamConnections } from './connection/upstream-connections.ts'
import { createUpstreamOutages } from './connection/upstream-outages.ts'
import { createUpstreamConversation } from './conversation/upstream-conversation.ts'
import { createUpstreamAccounts, type UpstreamAccountsParts } from './oauth-client/upstream-accounts.ts'
import { createUpstreamOAuth } from './oauth-client/upstream-oauth.ts'
import { createUpstreamReviews, type UpstreamReviewParts } from './review/upstream-reviews.ts'
import { createUpstreamLoading, type OpenGlobalsOf } from './upstream-loading.ts'
import { createUpstreamService, type ServersOfUpstreams } from './upstreams.service.ts'
import { listEagerServerIds } from './upstreams.store.ts'

type UpstreamsNeeds = {
  db: Database
  changes: Changes
  bus: EventBus
  sealing: Sealing
  logger: Logger
  settings: Pick<Settings, 'baseUrl' | 'allowStdio' | 'dataDirectory' | 'commandEnvironment' | 'limits'>
  network: Pick<HttpClientOptions, 'policy' | 'connectTimeoutMs' | 'ownOrigins' | 'findCreator' | 'lookup' | 'findBan'>
  responseMemory: MemoryShares
  suspensions: Suspensions
  /** Calls the listener after something was suspended or restored. */
  onSuspensionChange: (listener: () => void) => void
  findActorByUserId: (userId: string) => Promise<Actor | undefined>
  openGlobals: OpenGlobalsOf
  compileOutputSchemas: CompileOutputSchemas
  /** Looks up the servers to which upstreams belong. */
  servers: ServersOfUpstreams &
    Pick<UpstreamReviewParts, 'getServerFor'> &
    Pick<UpstreamAccountsParts, 'findServerToCall'> &
    Pick<UpstreamOffersParts, 'listToolNames'>
  /** Values that override the default limits. */
  connectionLimits: Partial<ConnectionLimits> | undefined
}

/**
 * Builds upstreams with their connections, catalogues and accounts, and ends processes left behind by an earlier run.
 */
export const upstreamsPlugin = (needs: UpstreamsNeeds, lifecycle: Lifecycle) => {
  const { db, changes, bus, sealing, logger, settings, network, openGlobals, servers, connectionLimits } = needs
  const { allowStdio, limits } = settings
  const loading = createUpstreamLoading({ db, openGlobals, allowStdio, suspensions: needs.suspensions })
  const oauth = createUpstreamOAuth({
    db,
    changes,
    bus,
    sealing,
    network,
    baseUrl: settings.baseUrl,
    mayCall: async (userId, serverId) => {
      const actor = await needs.findActorByUserId(userId)
      return actor !== undefined && (await servers.findServerToCall(db, actor, serverId)) !== undefined
    },
    resolve: loading.resolveUpstream,
  })
  lifecycle.onClose(oauth.close)
  const upstreams = createUpstreamService({
    db,
    changes,
    servers,
    clients: oauth.clients,
    revocations: oauth.revocations,
    allowStdio,
    maxTimeoutMs: limits.maxToolTimeoutMs,
  })

  const processes = createStdioProcesses({
    directory: join(settings.dataDirectory, 'processes'),
    environment: settings.commandEnvironment,
  })
  const reaped = processes.reap()
  if (reaped > 0) logger.warn({ reaped }, 'ended processes of MCP servers that an earlier run left behind')
  const connections = createUpstreamConnections({
    load: loading.loadUpstreams,
    listEagerServerIds: () => listEagerServerIds(db),
    accounts: oauth.accounts,
    parts: {
      processes,
      network: {
        ...network,
        maxRedirects: limits.maxRedirects,
        maxResponseBytes: limits.maxResponseBytes,
        memory: needs.responseMemory,
      },
      clientInfo: { name: 'patchbay', version: VERSION },
      ...(connectionLimits && { limits: connectionLimits }),
    },
    bus,
  })
  const outageEvents = createOutageEvents({
    connections,
    changes,
    onError: (error, id) => logger.error({ err: error, id }, 'the state of an MCP server could not be stored'),
  })
  lifecycle.onClose(outageEvents.settle)
  lifecycle.onClose(connections.close)
  // Ends the processes and connections of what is suspended.
  needs.onSuspensionChange(() => {
    connections.syncAll().catch(error => logger.error({ err: error }, 'could not reload the attached MCP servers'))
  })
  const catalogues = createUpstreamCatalogues({
    db,
    changes,
    connections,
    compileOutputSchemas: needs.compileOutputSchemas,
    onError: (error, id) => logger.error({ err: error, id }, 'the catalogue of an MCP server could not be stored'),
  })
  lifecycle.onClose(catalogues.close)
  const conversation = createUpstreamConversation(connections)
  lifecycle.onClose(conversation.close)

  const accounts = createUpstreamAccounts({
    db,
    changes,
    sealing,
    oauth,
    resolve: loading.getResolved,
    getServerFor: servers.getServerFor,
    findServerToCall: servers.findServerToCall,
    onConnected: catalogues.refreshSoon,
  })
  const reviews = createUpstreamReviews({ db, changes, catalogues, getServerFor: servers.getServerFor })
  const offers = createUpstreamOffers({ db, catalogues, reviews, listToolNames: servers.listToolNames })
  return {
    upstreams,
    upstreamLoading: loading,
    upstreamConnections: connections,
    upstreamCatalogues: catalogues,
    upstreamConversation: conversation,
    upstreamOAuth: oauth,
    upstreamAccounts: accounts,
    upstreamReviews: reviews,
    upstreamOffers: offers,
    upstreamOutages: createUpstreamOutages({ connections, bus }),
  }
}
