import {
  accessTokenPages,
  accountRoutes,
  auditRoutes,
  externalAccountPages,
  externalIdentityRoutes,
  externalSignInPages,
  linkPages,
  mailFlowRoutes,
  ownAccountPages,
  ownAccountRoutes,
  ownPasswordPages,
  ownSessionPages,
  secondFactorAccountPages,
  secondFactorPages,
  secondFactorRoutes,
  signInPages,
  typedFormPages,
} from './accounts/index.ts'
import {
  createFirstRun,
  createLive,
  designPages,
  firstRunPages,
  galleryPages,
  landingPages,
  livePages,
  operatorPages,
  organizationUsagePages,
  overviewPages,
  publicServerPages,
  serversPages,
  statusPages,
  themePages,
  toolActionPages,
  toolEditorPages,
  toolLivePages,
} from './dashboard/index.ts'
import { discoveryRoutes, openDocumentRoutes } from './discovery/index.ts'
import { executionRoutes, historyPages } from './execution/index.ts'
import { healthRoutes } from './health.routes.ts'
import { createInProcessClient, createMcpRegistry, inspectorPages, mcpRoutes } from './mcp/index.ts'
import { accessPages, applicationPages, grantRoutes, loadOAuthEngine, oauthClientRoutes } from './oauth/index.ts'
import {
  accountDeletionPages,
  accountDeletionRoutes,
  invitationPages,
  invitationRoutes,
  memberPages,
  organizationAuditPages,
  organizationAuditRoutes,
  organizationInvitationPages,
  organizationRoutes,
  organizationSettingsPages,
  organizationsPages,
  ownOrganizationPages,
} from './organizations/index.ts'
import {
  configureApi,
  configurePages,
  createHttpServer,
  createOriginPolicy,
  type HttpServer,
  listAssets,
  serveAssets,
} from './platform/http/index.ts'
import type { Logger } from './platform/logger.ts'
import type { Settings } from './platform/settings.ts'
import {
  bindingsPages,
  createServerTab,
  globalsPages,
  instancePages,
  instanceRoutes,
  serverRoutes,
  serverToolsPages,
  serverTransferRoutes,
  settingsPages,
  sourcesPages,
  toolAddingPages,
} from './servers/index.ts'
import type { Services } from './services.ts'
import { toolkitPages, toolkitRoutes, toolkitsPages } from './toolkits/index.ts'
import { restingState, upstreamPages, upstreamRoutes } from './upstreams/index.ts'
import { PUBLIC_DIRECTORY, VERSION, VIEWS_DIRECTORY } from './version.ts'

/** A mounted server that nobody used for this long is let go. */
const MOUNT_IDLE_MS = 10 * 60 * 1_000
/** Mounted servers without open streams kept at once. */
const MAX_MOUNTED = 5_000

export type App = { http: HttpServer; beginStop: () => void }

/** The whole application, not yet listening. `beginStop` makes it unready and ends its streams; calls go on. */
export const buildApp = async (settings: Settings, services: Services, logger: Logger): Promise<App> => {
  const { baseUrl, allowedOrigins, listensOnLoopback, limits } = settings
  const { accounts, bus, db, execution, sealing } = services
  const now = () => Date.now()
  let isStopping = false

  const registry = createMcpRegistry({
    compile: execution.compile,
    serverInfo: { name: 'patchbay', version: VERSION },
    now,
    idleMs: MOUNT_IDLE_MS,
    maxMounted: MAX_MOUNTED,
    logger,
  })
  bus.subscribe('server_changed', ({ serverId }) => registry.refresh(serverId))
  bus.subscribe('server_removed', ({ serverId }) => registry.refresh(serverId))
  bus.subscribe('resync', () => registry.invalidateAll())
  // What is kept of tokens is forgotten by then: the services listen first.
  bus.subscribe('access_changed', ({ userId }) => registry.checkAccess(userId))
  bus.subscribe('resync', () => registry.checkAccess(undefined))

  const http = createHttpServer({ trustProxy: settings.trustProxy, maxRequestBytes: limits.maxRequestBytes, logger })
  await http.register(healthRoutes({ db, isStopping: () => isStopping }))
  await http.register(
    mcpRoutes({
      registry,
      authorize: services.authorizeServer,
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
  const { authorizationPages, clientEndpoints, createAuthorizationServer } = await loadOAuthEngine()
  const oauth = await createAuthorizationServer({
    ...services,
    documents: services.documentClient,
    refreshGraceMs: settings.oauthRefreshGraceMs,
    baseUrl,
    logger,
  })
  await http.register(clientEndpoints({ ...oauth, baseUrl, isHttps: sessions.isHttps, origins: ownOrigin }))
  await http.register(app => serveAssets(app, PUBLIC_DIRECTORY))
  const isDevelopment = !settings.isProduction
  const frames = { db, openStreams: registry.openStreams }
  const firstRun = createFirstRun(services)
  const live = createLive({
    ...frames,
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
  const assets = listAssets(PUBLIC_DIRECTORY, isDevelopment)
  await http.register(async pages => {
    await configurePages(pages, {
      origins: ownOrigin,
      sessions,
      actors: accounts,
      views: { viewsDirectory: VIEWS_DIRECTORY, version: VERSION, isDevelopment, assets },
      typedForms: typedFormPages,
    })
    await pages.register(themePages(sessions))
    if (isDevelopment) await pages.register(designPages)
    await pages.register(landingPages({ accounts, firstRun }))
    await pages.register(firstRunPages({ ...services, firstRun, baseUrl }))
    await pages.register(serversPages({ ...services, baseUrl }))
    await pages.register(overviewPages({ frames, execution, baseUrl }))
    await pages.register(livePages({ ...services, live }))
    await pages.register(signInPages(services))
    await pages.register(linkPages(services))
    await pages.register(ownAccountPages(services))
    await pages.register(ownPasswordPages(services))
    await pages.register(ownSessionPages(services))
    await pages.register(accessTokenPages(services))
    await pages.register(invitationPages(services))
    await pages.register(ownOrganizationPages(services))
    await pages.register(accountDeletionPages(services))
    await pages.register(secondFactorPages(services))
    await pages.register(externalSignInPages(services))
    await pages.register(secondFactorAccountPages(services))
    await pages.register(externalAccountPages(services))
    await pages.register(applicationPages({ ...services, baseUrl }))
    await pages.register(toolkitsPages(services))
    await pages.register(toolkitPages(services))
    await pages.register(galleryPages(services))
    const toolParts = { ...services, openStreams: registry.openStreams }
    await pages.register(toolEditorPages(toolParts))
    await pages.register(toolLivePages(toolParts))
    await pages.register(toolActionPages(toolParts))
    const organizationParts = { ...services, tenancy: settings.tenancy }
    await pages.register(organizationsPages(organizationParts))
    await pages.register(memberPages(services))
    await pages.register(organizationInvitationPages(services))
    await pages.register(organizationAuditPages(services))
    await pages.register(organizationSettingsPages(organizationParts))
    await pages.register(organizationUsagePages(services))
    await pages.register(operatorPages({ ...services, settings, version: VERSION, streams: registry }))
    await pages.register(statusPages({ db, isStopping: () => isStopping }))
    await pages.register(serverToolsPages({ ...services, frames }))
    await pages.register(toolAddingPages({ ...services, frames }))
    await pages.register(instancePages({ ...services, frames }))
    await pages.register(sourcesPages({ ...services, frames, stateOf: restingState }))
    await pages.register(
      upstreamPages({
        ...services,
        tab: createServerTab(frames, 'sources'),
        stateOf: restingState,
        allowStdio: settings.allowStdio,
      }),
    )
    await pages.register(bindingsPages({ ...services, frames }))
    await pages.register(globalsPages({ ...services, frames }))
    await pages.register(historyPages({ ...services, frames }))
    await pages.register(accessPages({ ...services, frames }))
    await pages.register(settingsPages({ ...services, frames }))
    await pages.register(publicServerPages({ ...services, client: inspectorClient, baseUrl }))
    await pages.register(inspectorPages({ frames, client: inspectorClient, limits }))
    await pages.register(authorizationPages(oauth))
  })
  await http.register(
    async api => {
      await configureApi(api, {
        maxJsonDepth: limits.maxJsonDepth,
        origins: ownOrigin,
        sessions,
        actors: accounts,
        description: { version: VERSION, baseUrl },
      })
      await api.register(accountRoutes(services))
      await api.register(mailFlowRoutes(services))
      await api.register(ownAccountRoutes(services))
      await api.register(secondFactorRoutes(services))
      await api.register(externalIdentityRoutes(services))
      await api.register(auditRoutes(services))
      await api.register(accountDeletionRoutes(services))
      await api.register(organizationRoutes(services))
      await api.register(organizationAuditRoutes(services))
      await api.register(invitationRoutes(services))
      await api.register(toolkitRoutes(services))
      await api.register(serverRoutes({ ...services, baseUrl }))
      await api.register(serverTransferRoutes({ ...services, baseUrl }))
      await api.register(instanceRoutes(services))
      await api.register(upstreamRoutes({ ...services, stateOf: restingState }))
      await api.register(grantRoutes({ ...services, baseUrl }))
      await api.register(oauthClientRoutes(services))
      await api.register(executionRoutes(services))
    },
    { prefix: '/api/v1' },
  )

  return {
    http,
    beginStop: () => {
      isStopping = true
      live.close()
      registry.close()
    },
  }
}
