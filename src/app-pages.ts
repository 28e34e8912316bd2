import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { clientDocumentRoutes } from './api/upstreams/client-document.routes.ts'
import type { ApiParts } from './app-api.ts'
import { listAssets } from './lib/http/pages/assets.ts'
import { configurePages } from './lib/http/pages/pages.ts'
import { ASSET_DIRECTORIES, IS_BUILT, VERSION, VIEWS_DIRECTORY } from './lib/process/version.ts'
import type { InProcessClient } from './mcp/in-process-client.ts'
import type { McpRegistry } from './mcp/registry/registry.ts'
import { accessPages } from './web/access/access.pages.ts'
import { applicationPages } from './web/access/applications.pages.ts'
import { type AuthorizationPagesParts, authorizationPages } from './web/access/authorization.pages.ts'
import { accessTokenPages } from './web/account/access-tokens.pages.ts'
import { externalAccountPages } from './web/account/external-account.pages.ts'
import { externalSignInPages } from './web/account/external-sign-in.pages.ts'
import { linkPages } from './web/account/link.pages.ts'
import { ownAccountPages } from './web/account/own-account.pages.ts'
import { ownSessionPages } from './web/account/own-sessions.pages.ts'
import { secondFactorPages } from './web/account/second-factor.pages.ts'
import { securityPages } from './web/account/security.pages.ts'
import { signInPages } from './web/account/sign-in.pages.ts'
import { stopEventMailPages } from './web/account/stop-event-mails.pages.ts'
import { typedFormPages } from './web/account/typed-form.pages.ts'
import { bindingsPages } from './web/bindings/bindings.pages.ts'
import { designPages } from './web/diagram/design.pages.ts'
import type { ServerFrameParts } from './web/frame/server-frame.ts'
import { globalsPages } from './web/globals/globals.pages.ts'
import { historyPages } from './web/history/history.pages.ts'
import { historyRemovalPages } from './web/history/history-removal.pages.ts'
import { organizationHistoryPages } from './web/history/organization-history.pages.ts'
import { importPages } from './web/imports/import.pages.ts'
import { importApplyingPages } from './web/imports/import-applying.pages.ts'
import { importSourcePages } from './web/imports/import-source.pages.ts'
import { inspectorPages } from './web/inspector/inspector.pages.ts'
import { livePages } from './web/live/live.pages.ts'
import type { Live } from './web/live/live.ts'
import { organizationLivePages } from './web/live/organization-live.pages.ts'
import { operatorPages } from './web/operator/operator.pages.ts'
import { organizationUsagePages } from './web/operator/organization-usage.pages.ts'
import { statusPages } from './web/operator/status.pages.ts'
import { suspensionPages } from './web/operator/suspensions.pages.ts'
import { themePages } from './web/operator/theme.pages.ts'
import { accountDeletionPages } from './web/organizations/account-deletion.pages.ts'
import { invitationPages } from './web/organizations/invitation.pages.ts'
import { limitPages } from './web/organizations/limits.pages.ts'
import { memberPages } from './web/organizations/members.pages.ts'
import { organizationAuditPages } from './web/organizations/organization-audit.pages.ts'
import { organizationInvitationPages } from './web/organizations/organization-invitations.pages.ts'
import { organizationSettingsPages } from './web/organizations/organization-settings.pages.ts'
import { organizationsPages } from './web/organizations/organizations.pages.ts'
import { ownOrganizationPages } from './web/organizations/own-organizations.pages.ts'
import { webhookPages } from './web/organizations/webhook.pages.ts'
import { webhooksPages } from './web/organizations/webhooks.pages.ts'
import { overviewPages } from './web/overview/overview.pages.ts'
import { publicServerPages } from './web/overview/public-server.pages.ts'
import { serversPages } from './web/overview/servers.pages.ts'
import { palettePages } from './web/palette/palette.pages.ts'
import { shortcutPages } from './web/palette/shortcuts.pages.ts'
import { instancePages } from './web/server-tools/instance.pages.ts'
import { toolAddingPages } from './web/server-tools/tool-adding.pages.ts'
import { toolEnablingPages } from './web/server-tools/tool-enabling.pages.ts'
import { toolRemovalPages } from './web/server-tools/tool-removal.pages.ts'
import { toolValuesPages } from './web/server-tools/tool-values.pages.ts'
import { serverToolsPages } from './web/server-tools/tools.pages.ts'
import { maskingPages } from './web/settings/masking.pages.ts'
import { settingsPages } from './web/settings/settings.pages.ts'
import { sourcesPages } from './web/sources/sources.pages.ts'
import { firstRunPages } from './web/start/first-run.pages.ts'
import { galleryPages } from './web/start/gallery.pages.ts'
import { landingPages } from './web/start/landing.pages.ts'
import { sampleRemovalPages } from './web/start/sample-removal.pages.ts'
import { toolActionPages } from './web/tool-editor/tool-actions.pages.ts'
import { toolEditorPages } from './web/tool-editor/tool-editor.pages.ts'
import { toolPreviewPages } from './web/tool-editor/tool-preview.pages.ts'
import { toolSelectionPages } from './web/toolkits/tool-selection.pages.ts'
import { toolkitPages } from './web/toolkits/toolkit.pages.ts'
import { toolkitSourcePages } from './web/toolkits/toolkit-source.pages.ts'
import { toolkitsPages } from './web/toolkits/toolkits.pages.ts'
import { upstreamToolPages } from './web/upstream-tool/upstream-tool.pages.ts'
import { attachPages } from './web/upstreams/attach.pages.ts'
import { connectPages } from './web/upstreams/connect.pages.ts'
import { ownUpstreamAccountPages } from './web/upstreams/own-upstream-accounts.pages.ts'
import { upstreamPages } from './web/upstreams/upstream.pages.ts'

export type PagesParts = ApiParts & {
  registry: McpRegistry
  live: Live
  inspectorClient: InProcessClient
  isStopping: () => boolean
  authorizationServer: AuthorizationPagesParts
}

/** Registers the pages, in the order of the menu. */
const PAGES: readonly FastifyPluginAsync<PagesParts & { frames: ServerFrameParts }>[] = [
  themePages,
  palettePages,
  shortcutPages,
  landingPages,
  firstRunPages,
  sampleRemovalPages,
  operatorPages,
  statusPages,
  suspensionPages,
  serversPages,
  overviewPages,
  livePages,
  organizationLivePages,
  serverToolsPages,
  toolAddingPages,
  toolEnablingPages,
  toolRemovalPages,
  toolValuesPages,
  instancePages,
  sourcesPages,
  attachPages,
  upstreamPages,
  upstreamToolPages,
  connectPages,
  clientDocumentRoutes,
  bindingsPages,
  globalsPages,
  inspectorPages,
  accessPages,
  historyPages,
  historyRemovalPages,
  settingsPages,
  maskingPages,
  publicServerPages,
  toolkitsPages,
  toolkitPages,
  toolkitSourcePages,
  toolSelectionPages,
  importSourcePages,
  importPages,
  importApplyingPages,
  galleryPages,
  toolEditorPages,
  toolPreviewPages,
  toolActionPages,
  organizationsPages,
  memberPages,
  organizationInvitationPages,
  organizationHistoryPages,
  organizationUsagePages,
  limitPages,
  webhooksPages,
  webhookPages,
  organizationAuditPages,
  organizationSettingsPages,
  signInPages,
  linkPages,
  stopEventMailPages,
  secondFactorPages,
  externalSignInPages,
  invitationPages,
  ownAccountPages,
  securityPages,
  accessTokenPages,
  applicationPages,
  ownUpstreamAccountPages,
  externalAccountPages,
  ownSessionPages,
  ownOrganizationPages,
  accountDeletionPages,
]

export const appPages = async (pages: FastifyInstance, parts: PagesParts): Promise<void> => {
  const { settings, accounts, origins, sessions, db, registry, upstreamStates, upstreamOffers, suspensions } = parts
  // The files of a build are not edited while it runs.
  const isDevelopment = !settings.isProduction && !IS_BUILT
  await configurePages(pages, {
    origins,
    sessions,
    actors: accounts,
    views: {
      viewsDirectory: VIEWS_DIRECTORY,
      version: VERSION,
      isDevelopment,
      assets: listAssets(ASSET_DIRECTORIES, isDevelopment),
    },
    typedForms: typedFormPages,
  })
  const { openStreams } = registry
  const frames = { db, openStreams, upstreamStates, countUpstreamTools: upstreamOffers.countTools, suspensions }
  for (const plugin of PAGES) await pages.register(plugin, { ...parts, frames })
  if (!settings.isProduction) await pages.register(designPages)
  await pages.register(authorizationPages, parts.authorizationServer)
}
