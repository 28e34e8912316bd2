import { discoveryRoutes } from './api/discovery/discovery.routes.ts'
import { publicDocumentRoutes } from './api/discovery/public-documents.routes.ts'
import { healthRoutes } from './api/operations/health.routes.ts'
import { appApi } from './app-api.ts'
import { appPages } from './app-pages.ts'
import { createForwardedFor } from './lib/http/forwarded-for.ts'
import { createClientOrigins, createOriginPolicy } from './lib/http/origins.ts'
import { ASSETS_PREFIX, serveAssets } from './lib/http/pages/assets.ts'
import { createHttpServer, type HttpServer } from './lib/http/server.ts'
import { watchForUnnamedProxies } from './lib/http/unnamed-proxy.ts'
import { noteShortage } from './lib/process/file-descriptors.ts'
import type { Logger } from './lib/process/logger.ts'
import type { Settings } from './lib/process/settings.ts'
import { ASSET_DIRECTORIES, VERSION } from './lib/process/version.ts'
import { createInProcessClient } from './mcp/in-process-client.ts'
import { createMcpRegistry } from './mcp/registry/registry.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { createAuthorizationServer } from './oauth/authorization-server.ts'
import { clientEndpoints } from './oauth/clients/client-endpoints.ts'
import { createPassthrough } from './passthrough/http/passthrough.ts'
import type { Services } from './services.ts'
import { createLive } from './web/live/live.ts'

/** Servers without requests for this long are unmounted. */
const MOUNT_IDLE_MS = 10 * 60 * 1_000
/** Maximum number of mounted servers, not counting those with open streams. */
const MAX_MOUNTED = 5_000

export type App = {
  http: HttpServer
  /**
   * Loads what connected applications will need. Must be called before listening if an installation is served, because
   * loading it later would block calls.
   */
  prepare: () => Promise<void>
  /** Reports it as not ready, so that load balancers send no more requests. Everything still works. */
  announceStop: () => void
  /** Makes the application report that it is not ready, and ends its streams. Running calls continue. */
  beginStop: () => void
}

/** Builds the application without starting to listen. */
export const buildApp = async (settings: Settings, services: Services, logger: Logger): Promise<App> => {
  const { baseUrl, allowedOrigins, listensOnLoopback, limits } = settings
  const { bus, db, databaseHealth, execution, sealing } = services
  const now = () => Date.now()
  let isStopping = false

  const registry = createMcpRegistry({
    compile: serverId => databaseHealth.whileReachable(() => execution.compile(serverId)),
    prepare: serverId =>
      databaseHealth.whileReachable(() => services.upstreamCatalogues.prepare(serverId)).catch(() => undefined),
    serverInfo: { name: 'patchbay', version: VERSION },
    now,
    idleMs: MOUNT_IDLE_MS,
    maxMounted: MAX_MOUNTED,
    logger,
  })
  bus.subscribe('server_changed', ({ serverId }) => registry.refresh(serverId))
  bus.subscribe('server_removed', ({ serverId }) => registry.refresh(serverId))
  bus.subscribe('resync', () => registry.invalidateAll())
  services.upstreamOutages.onChange(registry.refreshOutages)
  // The services subscribed earlier, so their token caches are already cleared when this runs.
  bus.subscribe('access_changed', ({ userId }) => registry.checkAccess(userId))
  bus.subscribe('resync', () => registry.checkAccess(undefined))
  services.onSuspensionChange(() => registry.checkAccess(undefined))

  const http = createHttpServer({ trustProxy: settings.trustProxy, maxRequestBytes: limits.maxRequestBytes, logger })
  // Node reports failed accepts here, once its reserve is used up. Without a listener, they would end the process.
  http.server.on('error', error => {
    if (http.server.listening) logger.error({ err: error }, 'a connection could not be accepted')
    noteShortage(error)
  })
  watchForUnnamedProxies(http.server, settings.trustProxy, services.notices)
  await http.register(healthRoutes, {
    ...services,
    isStopping: () => isStopping,
    hasMounted: () => registry.mountedCount() > 0,
  })
  if (settings.metricsToken !== undefined) {
    // Imported only if needed, because it loads a metrics library.
    const { metricsRoutes } = await import('./api/operations/metrics.routes.ts')
    await http.register(metricsRoutes, { ...services, token: settings.metricsToken })
  }
  await http.register(
    mcpRoutes({
      registry,
      authorize: services.authorizeServer,
      floods: services.floods,
      createPassthrough: checks =>
        createPassthrough({
          ...checks,
          proxy: services.reverseProxy,
          baseUrl,
          maxRequestBytes: limits.maxRequestBytes,
          forwardedFor: createForwardedFor(settings.trustProxy),
        }),
      baseUrl,
      allowedOrigins,
      listensOnLoopback,
      limits,
      signingKeys: sealing.derive('mcp sessions'),
      now,
      logger,
    }),
  )
  const origins = createClientOrigins({ baseUrl, allowedOrigins, listensOnLoopback })
  await http.register(discoveryRoutes, { ...services, baseUrl, origins })
  await http.register(publicDocumentRoutes, { ...services, baseUrl, origins })
  const ownOrigin = createOriginPolicy({ baseUrl, allowedOrigins: [], listensOnLoopback })
  const sessions = {
    store: services.sessionStore,
    secrets: sealing.derive('session cookie').map(({ key }) => key.toString('base64')),
    isHttps: baseUrl.startsWith('https:'),
    now,
  }
  const oauth = createAuthorizationServer({
    ...services,
    documents: services.documentClient,
    refreshGraceMs: settings.oauthRefreshGraceMs,
    baseUrl,
    logger,
  })
  await http.register(clientEndpoints({ ...oauth, baseUrl, isHttps: sessions.isHttps, origins }))
  await http.register(app => serveAssets(app, ASSET_DIRECTORIES), { prefix: ASSETS_PREFIX })
  const live = createLive({
    db,
    sealing,
    openStreams: registry.openStreams,
    upstreamStates: services.upstreamStates,
    bus,
    onTrouble: (error, serverId) => logger.warn({ err: error, serverId }, 'could not update an open page'),
  })
  const inspectorClient = createInProcessClient({
    registry,
    limits,
    suspensions: services.suspensions,
    clientInfo: { name: 'Patchbay inspector', version: VERSION },
    report: (error, message) => logger.error({ err: error }, message),
  })
  const parts = { ...services, settings, baseUrl, origins: ownOrigin, sessions }
  await http.register(appPages, {
    ...parts,
    registry,
    live,
    inspectorClient,
    isStopping: () => isStopping,
    authorizationServer: oauth,
  })
  await http.register(api => appApi(api, parts), { prefix: '/api/v1' })

  return {
    http,
    prepare: oauth.prepare,
    announceStop: () => {
      isStopping = true
    },
    beginStop: () => {
      isStopping = true
      live.close()
      registry.close()
    },
  }
}
