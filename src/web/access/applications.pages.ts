import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { listQuery, nextAddressOf } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { DEFAULT_PAGE_SIZE } from '../../lib/kernel/limits.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { mayUseServer } from '../../oauth/grants/consents.ts'
import type { GrantService } from '../../oauth/grants/grants.service.ts'
import type { Grant } from '../../oauth/grants/grants.store.ts'
import { accountFrame } from '../account/account-tabs.ts'
import { SCOPE_LABELS } from './scope-labels.ts'

const config = { access: 'user' } as const
const PATH = '/account/applications'

const Query = listQuery.extend({ done: formText })

const describeApplication = (actor: Actor, baseUrl: string) => (grant: Grant) => ({
  id: grant.id,
  name: grant.client.name,
  // Users who have lost access must not see the server's current name.
  serverName: mayUseServer(actor, grant.server) ? grant.server.name : undefined,
  serverUrl: serverUrl(baseUrl, grant.server.policy.serverId),
  scopes: grant.scopes.map(scope => SCOPE_LABELS[scope].title),
  since: shownTime(grant.createdAt),
  lastUsed: grant.lastUsedAt === undefined ? undefined : shownTime(grant.lastUsedAt),
})

/** Registers the page of applications that act on the user's behalf, where they can be revoked. */
export const applicationPages: FastifyPluginAsync<{ grants: GrantService; baseUrl: string }> = async (
  app,
  { grants, baseUrl },
) => {
  const listApplications = async (request: FastifyRequest, cursor: string | undefined) => {
    const actor = actorOf(request)
    const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor })
    return toIdPage(await grants.listApplications(actor, page), page, describeApplication(actor, baseUrl))
  }

  app.get(PATH, { config }, async (request, reply) => {
    const { done, cursor } = Query.parse(request.query)
    const { items, nextCursor } = await listApplications(request, cursor)
    return reply.page('access/applications', {
      ...accountFrame('applications'),
      applications: items,
      next: nextAddressOf(PATH, nextCursor),
      done: done === 'removed' ? 'Access revoked. The application’s tokens no longer work.' : undefined,
    })
  })

  app.post(`${PATH}/:id/removal`, { config, schema: { params: uuidParams } }, async (request, reply) => {
    await grants.removeApplication(actorOf(request), uuidParams.parse(request.params).id)
    return reply.redirect(`${PATH}?done=removed`, 303)
  })
}
