import type { FastifyInstance } from 'fastify'
import {
  accessTokenPages,
  externalAccountPages,
  externalSignInPages,
  linkPages,
  ownAccountPages,
  ownPasswordPages,
  ownSessionPages,
  secondFactorAccountPages,
  secondFactorPages,
  signInPages,
  typedFormPages,
} from './accounts/index.ts'
import {
  createFirstRun,
  designPages,
  firstRunPages,
  galleryPages,
  type Live,
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
  upstreamToolPages,
} from './dashboard/index.ts'
import { historyPages } from './execution/index.ts'
import type { Actor } from './kernel/index.ts'
import { type InProcessClient, inspectorPages, type McpRegistry } from './mcp/index.ts'
import { accessPages, applicationPages } from './oauth/index.ts'
import {
  accountDeletionPages,
  invitationPages,
  memberPages,
  organizationAuditPages,
  organizationInvitationPages,
  organizationSettingsPages,
  organizationsPages,
  ownOrganizationPages,
} from './organizations/index.ts'
import { configurePages, listAssets, type OriginPolicy, type SessionOptions } from './platform/http/index.ts'
import type { Settings } from './platform/settings.ts'
import {
  bindingsPages,
  createServerTab,
  globalsPages,
  instancePages,
  serverToolsPages,
  settingsPages,
  sourcesPages,
  tableSettingsPages,
  toolAddingPages,
} from './servers/index.ts'
import type { Services } from './services.ts'
import { toolkitPages, toolkitsPages } from './toolkits/index.ts'
import { clientDocumentRoutes, connectPages, ownUpstreamAccountPages, upstreamPages } from './upstreams/index.ts'
import { PUBLIC_DIRECTORY, VERSION, VIEWS_DIRECTORY } from './version.ts'

export type PagesParts = {
  settings: Settings
  services: Services
  origins: OriginPolicy
  sessions: SessionOptions
  registry: McpRegistry
  live: Live
  inspectorClient: InProcessClient
  isStopping: () => boolean
  /** Where applications ask for access: the authorization server's own. */
  authorizationPages: (pages: FastifyInstance) => Promise<void>
}

type AddPages = (pages: FastifyInstance, parts: PagesParts) => Promise<void>

const addStart: AddPages = async (pages, { settings, services, sessions, registry, isStopping }) => {
  const { baseUrl } = settings
  const firstRun = createFirstRun(services)
  await pages.register(themePages(sessions))
  if (!settings.isProduction) await pages.register(designPages)
  await pages.register(landingPages({ accounts: services.accounts, firstRun }))
  await pages.register(firstRunPages({ ...services, firstRun, baseUrl }))
  await pages.register(operatorPages({ ...services, settings, version: VERSION, streams: registry }))
  await pages.register(statusPages({ db: services.db, isStopping }))
}

const addAccounts: AddPages = async (pages, { settings, services }) => {
  await pages.register(signInPages(services))
  await pages.register(linkPages(services))
  await pages.register(secondFactorPages(services))
  await pages.register(externalSignInPages(services))
  await pages.register(invitationPages(services))
  await pages.register(ownAccountPages(services))
  await pages.register(ownPasswordPages(services))
  await pages.register(secondFactorAccountPages(services))
  await pages.register(accessTokenPages(services))
  await pages.register(applicationPages({ ...services, baseUrl: settings.baseUrl }))
  await pages.register(ownUpstreamAccountPages(services))
  await pages.register(externalAccountPages(services))
  await pages.register(ownSessionPages(services))
  await pages.register(ownOrganizationPages(services))
  await pages.register(accountDeletionPages(services))
}

const addOrganizations: AddPages = async (pages, { settings, services }) => {
  const parts = { ...services, tenancy: settings.tenancy }
  await pages.register(organizationsPages(parts))
  await pages.register(memberPages(services))
  await pages.register(organizationInvitationPages(services))
  await pages.register(organizationUsagePages(services))
  await pages.register(organizationAuditPages(services))
  await pages.register(organizationSettingsPages(parts))
}

const addToolkits: AddPages = async (pages, { services, registry }) => {
  const toolParts = { ...services, openStreams: registry.openStreams }
  await pages.register(toolkitsPages(services))
  await pages.register(toolkitPages(services))
  await pages.register(galleryPages(services))
  await pages.register(toolEditorPages(toolParts))
  await pages.register(toolLivePages(toolParts))
  await pages.register(toolActionPages(toolParts))
}

const addServers: AddPages = async (pages, { settings, services, registry, live, inspectorClient: client }) => {
  const { baseUrl, limits } = settings
  const stateOf = services.upstreamStateOf
  const { upstreamStates, upstreamOffers } = services
  const countUpstreamTools = upstreamOffers.countTools
  const frames = { db: services.db, openStreams: registry.openStreams, upstreamStates, countUpstreamTools }
  const tabParts = { ...services, frames }
  await pages.register(serversPages({ ...services, baseUrl }))
  await pages.register(overviewPages({ ...services, frames, stateOf, baseUrl }))
  await pages.register(livePages({ ...services, live }))
  await pages.register(serverToolsPages(tabParts))
  await pages.register(toolAddingPages(tabParts))
  await pages.register(instancePages(tabParts))
  await pages.register(sourcesPages({ ...tabParts, stateOf: services.upstreamStateOf }))
  await pages.register(
    upstreamPages({
      ...services,
      tab: createServerTab(frames, 'sources'),
      stateOf: services.upstreamStateOf,
      logOf: services.upstreamConnections.logOf,
      allowStdio: settings.allowStdio,
    }),
  )
  await pages.register(upstreamToolPages(tabParts))
  await pages.register(connectPages({ ...services, journeys: services.upstreamJourneys }))
  await pages.register(clientDocumentRoutes({ baseUrl }))
  await pages.register(bindingsPages(tabParts))
  await pages.register(globalsPages(tabParts))
  await pages.register(inspectorPages({ frames, client, limits }))
  await pages.register(accessPages(tabParts))
  await pages.register(historyPages(tabParts))
  const listToolNames = async (actor: Actor, serverId: string): Promise<readonly string[]> =>
    (await services.execution.listNames(actor, serverId, [])).tools
  await pages.register(settingsPages({ ...tabParts, listToolNames }))
  await pages.register(tableSettingsPages(tabParts))
  await pages.register(publicServerPages({ ...services, client, baseUrl }))
}

/** Each page that people see, one line a plugin, in the order of the menu. */
export const appPages =
  (parts: PagesParts) =>
  async (pages: FastifyInstance): Promise<void> => {
    const { settings, services, origins, sessions } = parts
    const isDevelopment = !settings.isProduction
    await configurePages(pages, {
      origins,
      sessions,
      actors: services.accounts,
      views: {
        viewsDirectory: VIEWS_DIRECTORY,
        version: VERSION,
        isDevelopment,
        assets: listAssets(PUBLIC_DIRECTORY, isDevelopment),
      },
      typedForms: typedFormPages,
    })
    await addStart(pages, parts)
    await addServers(pages, parts)
    await addToolkits(pages, parts)
    await addOrganizations(pages, parts)
    await addAccounts(pages, parts)
    await pages.register(parts.authorizationPages)
  }
