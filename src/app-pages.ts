import type { FastifyInstance } from 'fastify'
import { clientDocumentRoutes } from './api/upstreams/client-document.routes.ts'
import type { OriginPolicy } from './lib/http/origins.ts'
import { listAssets } from './lib/http/pages/assets.ts'
import { configurePages } from './lib/http/pages/pages.ts'
import type { SessionOptions } from './lib/http/sessions.ts'
import type { Actor } from './lib/kernel/actor.ts'
import type { Settings } from './lib/process/settings.ts'
import { PUBLIC_DIRECTORY, VERSION, VIEWS_DIRECTORY } from './lib/process/version.ts'
import type { InProcessClient } from './mcp/in-process-client.ts'
import type { McpRegistry } from './mcp/registry/registry.ts'
import type { Services } from './services.ts'
import { accessPages } from './web/access/access.pages.ts'
import { applicationPages } from './web/access/applications.pages.ts'
import { accessTokenPages } from './web/account/access-tokens.pages.ts'
import { externalAccountPages } from './web/account/external-account.pages.ts'
import { externalSignInPages } from './web/account/external-sign-in.pages.ts'
import { linkPages } from './web/account/link.pages.ts'
import { ownAccountPages } from './web/account/own-account.pages.ts'
import { ownSessionPages } from './web/account/own-sessions.pages.ts'
import { secondFactorPages } from './web/account/second-factor.pages.ts'
import { securityPages } from './web/account/security.pages.ts'
import { signInPages } from './web/account/sign-in.pages.ts'
import { typedFormPages } from './web/account/typed-form.pages.ts'
import { bindingsPages } from './web/bindings/bindings.pages.ts'
import { designPages } from './web/diagram/design.pages.ts'
import { globalsPages } from './web/globals/globals.pages.ts'
import { historyPages } from './web/history/history.pages.ts'
import { inspectorPages } from './web/inspector/inspector.pages.ts'
import { livePages } from './web/live/live.pages.ts'
import type { Live } from './web/live/live.ts'
import { operatorPages } from './web/operator/operator.pages.ts'
import { organizationUsagePages } from './web/operator/organization-usage.pages.ts'
import { statusPages } from './web/operator/status.pages.ts'
import { themePages } from './web/operator/theme.pages.ts'
import { accountDeletionPages } from './web/organizations/account-deletion.pages.ts'
import { invitationPages } from './web/organizations/invitation.pages.ts'
import { memberPages } from './web/organizations/members.pages.ts'
import { organizationAuditPages } from './web/organizations/organization-audit.pages.ts'
import { organizationInvitationPages } from './web/organizations/organization-invitations.pages.ts'
import { organizationSettingsPages } from './web/organizations/organization-settings.pages.ts'
import { organizationsPages } from './web/organizations/organizations.pages.ts'
import { ownOrganizationPages } from './web/organizations/own-organizations.pages.ts'
import { overviewPages } from './web/overview/overview.pages.ts'
import { publicServerPages } from './web/overview/public-server.pages.ts'
import { serversPages } from './web/overview/servers.pages.ts'
import { instancePages } from './web/server-tools/instance.pages.ts'
import { toolAddingPages } from './web/server-tools/tool-adding.pages.ts'
import { serverToolsPages } from './web/server-tools/tools.pages.ts'
import { settingsPages } from './web/settings/settings.pages.ts'
import { sourcesPages } from './web/sources/sources.pages.ts'
import { firstRunPages } from './web/start/first-run.pages.ts'
import { createFirstRun } from './web/start/first-run.ts'
import { galleryPages } from './web/start/gallery.pages.ts'
import { landingPages } from './web/start/landing.pages.ts'
import { toolActionPages } from './web/tool-editor/tool-actions.pages.ts'
import { toolEditorPages } from './web/tool-editor/tool-editor.pages.ts'
import { toolPreviewPages } from './web/tool-editor/tool-preview.pages.ts'
import { toolkitPages } from './web/toolkits/toolkit.pages.ts'
import { toolkitsPages } from './web/toolkits/toolkits.pages.ts'
import { upstreamToolPages } from './web/upstream-tool/upstream-tool.pages.ts'
import { connectPages } from './web/upstreams/connect.pages.ts'
import { ownUpstreamAccountPages } from './web/upstreams/own-upstream-accounts.pages.ts'
import { upstreamPages } from './web/upstreams/upstream.pages.ts'

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
  await pages.register(securityPages(services))
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
  await pages.register(toolPreviewPages(toolParts))
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
      frames,
      stateOf: services.upstreamStateOf,
      logOf: services.upstreamConnections.logOf,
      allowStdio: settings.allowStdio,
    }),
  )
  await pages.register(upstreamToolPages(tabParts))
  await pages.register(connectPages({ ...services, pendingAuthorizations: services.pendingUpstreamAuthorizations }))
  await pages.register(clientDocumentRoutes({ baseUrl }))
  await pages.register(bindingsPages(tabParts))
  await pages.register(globalsPages(tabParts))
  await pages.register(inspectorPages({ frames, client, limits }))
  await pages.register(accessPages(tabParts))
  await pages.register(historyPages(tabParts))
  const listToolNames = async (actor: Actor, serverId: string): Promise<readonly string[]> =>
    (await services.execution.listNames(actor, serverId, [])).tools
  await pages.register(settingsPages({ ...tabParts, listToolNames }))
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
