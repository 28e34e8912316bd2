import {
  accountRoutes,
  auditRoutes,
  externalIdentityRoutes,
  mailFlowRoutes,
  ownAccountRoutes,
  secondFactorRoutes,
} from './accounts/index.ts'
import { callTokensRoutes, executionRoutes } from './execution/index.ts'
import { catalogueRoutes } from './mcp/index.ts'
import { grantRoutes, oauthClientRoutes } from './oauth/index.ts'
import {
  accountDeletionRoutes,
  invitationRoutes,
  organizationAuditRoutes,
  organizationRoutes,
} from './organizations/index.ts'
import { configureApi, type HttpServer, type OriginPolicy, type SessionOptions } from './platform/http/index.ts'
import type { Settings } from './platform/settings.ts'
import { instanceRoutes, serverRoutes, serverTransferRoutes } from './servers/index.ts'
import type { Services } from './services.ts'
import { toolkitRoutes } from './toolkits/index.ts'
import { upstreamAccountRoutes, upstreamReviewRoutes, upstreamRoutes } from './upstreams/index.ts'
import { VERSION } from './version.ts'

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
