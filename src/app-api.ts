import { accountRoutes } from './api/accounts/accounts.routes.ts'
import { auditRoutes } from './api/accounts/audit.routes.ts'
import { externalIdentityRoutes } from './api/accounts/external-identities.routes.ts'
import { mailFlowRoutes } from './api/accounts/mail-flows.routes.ts'
import { ownAccountRoutes } from './api/accounts/own-account.routes.ts'
import { secondFactorRoutes } from './api/accounts/second-factor.routes.ts'
import { callTokensRoutes } from './api/history/call-tokens.routes.ts'
import { executionRoutes } from './api/history/execution.routes.ts'
import { grantRoutes } from './api/oauth/grants.routes.ts'
import { oauthClientRoutes } from './api/oauth/oauth-clients.routes.ts'
import { accountDeletionRoutes } from './api/organizations/account-deletion.routes.ts'
import { organizationAuditRoutes } from './api/organizations/audit.routes.ts'
import { invitationRoutes } from './api/organizations/invitations.routes.ts'
import { organizationRoutes } from './api/organizations/organizations.routes.ts'
import { catalogueRoutes } from './api/servers/catalogue.routes.ts'
import { instanceRoutes } from './api/servers/instances.routes.ts'
import { serverRoutes } from './api/servers/servers.routes.ts'
import { serverTransferRoutes } from './api/servers/transfer.routes.ts'
import { toolkitRoutes } from './api/toolkits/toolkits.routes.ts'
import { upstreamReviewRoutes } from './api/upstreams/reviews.routes.ts'
import { upstreamAccountRoutes } from './api/upstreams/upstream-accounts.routes.ts'
import { upstreamRoutes } from './api/upstreams/upstreams.routes.ts'
import { configureApi } from './lib/http/api.ts'
import type { OriginPolicy } from './lib/http/origins.ts'
import type { HttpServer } from './lib/http/server.ts'
import type { SessionOptions } from './lib/http/sessions.ts'
import type { Settings } from './lib/process/settings.ts'
import { VERSION } from './lib/process/version.ts'
import type { Services } from './services.ts'

export type ApiParts = { settings: Settings; services: Services; origins: OriginPolicy; sessions: SessionOptions }

/** Each route of the API, one line a feature. */
export const appApi =
  ({ settings, services, origins, sessions }: ApiParts) =>
  async (api: HttpServer): Promise<void> => {
    const { baseUrl, limits } = settings
    await configureApi(api, {
      maxJsonDepth: limits.maxJsonDepth,
      origins,
      sessions,
      actors: services.accounts,
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
    await api.register(catalogueRoutes(services))
    await api.register(serverTransferRoutes({ ...services, baseUrl }))
    await api.register(instanceRoutes(services))
    await api.register(upstreamRoutes({ ...services, stateOf: services.upstreamStateOf }))
    await api.register(upstreamReviewRoutes(services))
    await api.register(upstreamAccountRoutes({ ...services, baseUrl }))
    await api.register(grantRoutes({ ...services, baseUrl }))
    await api.register(oauthClientRoutes(services))
    await api.register(executionRoutes(services))
    await api.register(callTokensRoutes(services))
  }
