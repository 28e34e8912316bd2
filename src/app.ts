import { appApi } from './app-api.ts'
import { appPages } from './app-pages.ts'
import { createLive } from './dashboard/index.ts'
import { discoveryRoutes, openDocumentRoutes } from './discovery/index.ts'
import { healthRoutes } from './health.routes.ts'
import { createInProcessClient, createMcpRegistry, mcpRoutes } from './mcp/index.ts'
import { authorizationPages, clientEndpoints, createAuthorizationServer } from './oauth/index.ts'
import {
  ASSETS_PREFIX,
  createHttpServer,
  createOriginPolicy,
  type HttpServer,
  serveAssets,
} from './platform/http/index.ts'
import type { Logger } from './platform/logger.ts'
import type { Settings } from './platform/settings.ts'
import type { Services } from './services.ts'
import { PUBLIC_DIRECTORY, VERSION } from './version.ts'

/** A mounted server that nobody used for this long is let go. */
const MOUNT_IDLE_MS = 10 * 60 * 1_000
/** Mounted servers without open streams kept at once. */
const MAX_MOUNTED = 5_000

export type App = {
  http: HttpServer
  /** Before it listens, for who serves an installation: loads what its applications will ask for. */
  prepare: () => Promise<void>
  beginStop: () => void
}

/** The whole application, not yet listening. `beginStop` makes it unready and ends its streams; calls go on. */
export const buildApp = async (settings: Settings, services: Services, logger: Logger): Promise<App> => {
  const { baseUrl, allowedOrigins, listensOnLoopback, limits } = settings
  const { bus, db, execution, sealing } = services
  const now = () => Date.now()
  let isStopping = false

  const registry = createMcpRegistry({
    compile: execution.compile,
    prepare: services.upstreamCatalogues.prepare,
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
  // What is kept of tokens is forgotten by then: the services listen first.
  bus.subscribe('access_changed', ({ userId }) => registry.checkAccess(userId))
  bus.subscribe('resync', () => registry.checkAccess(undefined))

  const http = createHttpServer({ trustProxy: settings.trustProxy, maxRequestBytes: limits.maxRequestBytes, logger })
  await http.register(healthRoutes({ db, isStopping: () => isStopping }))
  if (settings.metricsToken !== undefined) {
    // With its library only where it is used.
    const { metricsRoutes } = await import('./metrics.routes.ts')
    await http.register(metricsRoutes({ ...services, token: settings.metricsToken }))
  }
  await http.register(
    mcpRoutes({
      registry,
      authorize: services.authorizeServer,
      proxy: services.reverseProxy,
      trustProxy: settings.trustProxy,
      baseUrl,
      allowedOrigins,
      listensOnLoopback,
      limits,
      signingKeys: sealing.derive('mcp sessions'),
      now,
      logger,
    }),
  )
  const origins = createOriginPolicy({ baseUrl, allowedOrigins, listensOnLoopback })
  await http.register(discoveryRoutes({ ...services, baseUrl, origins }))
  await http.register(openDocumentRoutes({ ...services, baseUrl, origins }))
  const ownOrigin = createOriginPolicy({ baseUrl, allowedOrigins: [], listensOnLoopback })
  const sessions = {
    store: services.sessionStore,
    secret: sealing.derive('session cookie').map(({ key }) => key.toString('base64')),
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
  await http.register(clientEndpoints({ ...oauth, baseUrl, isHttps: sessions.isHttps, origins: ownOrigin }))
  await http.register(app => serveAssets(app, PUBLIC_DIRECTORY), { prefix: ASSETS_PREFIX })
  const live = createLive({
    db,
    openStreams: registry.openStreams,
    upstreamStates: services.upstreamStates,
    bus,
    onTrouble: (error, serverId) => logger.warn({ err: error, serverId }, 'an open page could not be kept up to date'),
  })
  const inspectorClient = createInProcessClient({
    registry,
    limits,
    clientInfo: { name: 'Patchbay inspector', version: VERSION },
    report: (error, message) => logger.error({ err: error }, message),
    now,
  })
  await http.register(
    appPages({
      settings,
      services,
      origins: ownOrigin,
      sessions,
      registry,
      live,
      inspectorClient,
      isStopping: () => isStopping,
      authorizationPages: authorizationPages(oauth),
    }),
  )
  await http.register(appApi({ settings, services, origins: ownOrigin, sessions }), { prefix: '/api/v1' })

  return {
    http,
    prepare: oauth.prepare,
    beginStop: () => {
      isStopping = true
      live.close()
      registry.close()
    },
  }
}
