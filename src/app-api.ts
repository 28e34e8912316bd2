import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { accountRoutes } from './api/accounts/accounts.routes.ts'
import { auditRoutes } from './api/accounts/audit.routes.ts'
import { externalIdentityRoutes } from './api/accounts/external-identities.routes.ts'
import { mailFlowRoutes } from './api/accounts/mail-flows.routes.ts'
import { ownAccountRoutes } from './api/accounts/own-account.routes.ts'
import { secondFactorRoutes } from './api/accounts/second-factor.routes.ts'
import { userRoutes } from './api/accounts/users.routes.ts'
import { callTokensRoutes } from './api/history/call-tokens.routes.ts'
import { chartRoutes } from './api/history/charts.routes.ts'
import { executionRoutes } from './api/history/execution.routes.ts'
import { exportRoutes } from './api/history/export.routes.ts'
import { callRemovalRoutes } from './api/history/removal.routes.ts'
import { importApplyingRoutes } from './api/imports/import-applying.routes.ts'
import { importChangeRoutes } from './api/imports/import-changes.routes.ts'
import { importRoutes } from './api/imports/imports.routes.ts'
import { grantRoutes } from './api/oauth/grants.routes.ts'
import { oauthClientRoutes } from './api/oauth/oauth-clients.routes.ts'
import { suspensionRoutes } from './api/operations/suspensions.routes.ts'
import { accountDeletionRoutes } from './api/organizations/account-deletion.routes.ts'
import { invitationRoutes } from './api/organizations/invitations.routes.ts'
import { limitRoutes } from './api/organizations/limits.routes.ts'
import { organizationRoutes } from './api/organizations/organizations.routes.ts'
import { catalogueRoutes } from './api/servers/catalogue.routes.ts'
import { instanceRoutes } from './api/servers/instances.routes.ts'
import { serverRoutes } from './api/servers/servers.routes.ts'
import { toolkitSourceRoutes } from './api/toolkits/toolkit-source.routes.ts'
import { toolkitRoutes } from './api/toolkits/toolkits.routes.ts'
import { upstreamReviewRoutes } from './api/upstreams/reviews.routes.ts'
import { upstreamAccountRoutes } from './api/upstreams/upstream-accounts.routes.ts'
import { upstreamRoutes } from './api/upstreams/upstreams.routes.ts'
import { eventMailRoutes } from './api/webhooks/event-mails.routes.ts'
import { webhookRoutes } from './api/webhooks/webhooks.routes.ts'
import { configureApi } from './lib/http/api.ts'
import type { OriginPolicy } from './lib/http/origins.ts'
import type { HttpServer } from './lib/http/server.ts'
import type { SessionOptions } from './lib/http/sessions.ts'
import type { Settings } from './lib/process/settings.ts'
import { VERSION } from './lib/process/version.ts'
import type { Services } from './services.ts'

export type ApiParts = Services & {
  settings: Settings
  baseUrl: string
  origins: OriginPolicy
  sessions: SessionOptions
}

/** Registers the routes of the API, grouped by feature. */
const ROUTES: readonly FastifyPluginAsyncZod<ApiParts>[] = [
  accountRoutes,
  mailFlowRoutes,
  ownAccountRoutes,
  secondFactorRoutes,
  externalIdentityRoutes,
  auditRoutes,
  userRoutes,
  suspensionRoutes,
  accountDeletionRoutes,
  organizationRoutes,
  invitationRoutes,
  limitRoutes,
  webhookRoutes,
  eventMailRoutes,
  toolkitRoutes,
  importRoutes,
  importChangeRoutes,
  toolkitSourceRoutes,
  importApplyingRoutes,
  serverRoutes,
  catalogueRoutes,
  instanceRoutes,
  upstreamRoutes,
  upstreamReviewRoutes,
  upstreamAccountRoutes,
  grantRoutes,
  oauthClientRoutes,
  executionRoutes,
  callTokensRoutes,
  chartRoutes,
  exportRoutes,
  callRemovalRoutes,
]

export const appApi = async (api: HttpServer, parts: ApiParts): Promise<void> => {
  const { settings, accounts, origins, sessions, baseUrl } = parts
  await configureApi(api, {
    maxJsonDepth: settings.limits.maxJsonDepth,
    origins,
    sessions,
    actors: accounts,
    description: { version: VERSION, baseUrl },
  })
  for (const routes of ROUTES) await api.register(routes, parts)
}
