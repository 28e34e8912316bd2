import type { FastifyPluginAsync } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { mayUseServer } from '../../oauth/grants/consents.ts'
import type { GrantService } from '../../oauth/grants/grants.service.ts'
import type { Grant } from '../../oauth/grants/grants.store.ts'
import { accountFrame } from '../account/account-tabs.ts'
import { doneText, idOf, idRoute, readList, userRoute } from '../frame/user-page.ts'
import { SCOPE_LABELS } from './access.view.ts'

const PATH = '/account/applications'

const DONE = { removed: 'Access revoked. The application’s tokens no longer work.' }

const describeApplication = (actor: Actor, baseUrl: string) => (grant: Grant) => ({
  id: grant.id,
  name: grant.client.name,
  // Users who have lost access must not see the server's current name.
  serverName: mayUseServer(actor, grant.server) ? grant.server.name : undefined,
  serverUrl: serverUrl(baseUrl, grant.server.policy.serverId),
  scopes: grant.scopes.map(scope => SCOPE_LABELS[scope].title),
  since: shownTime(grant.createdAt),
  lastUsed: grant.lastUsedAt && shownTime(grant.lastUsedAt),
})

/** Registers the page that lists the applications acting for the user and lets the user revoke their access. */
export const applicationPages: FastifyPluginAsync<{ grants: GrantService; baseUrl: string }> = async (
  app,
  { grants, baseUrl },
) => {
  app.get(PATH, userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const { cursor } = listQuery.parse(request.query)
    const list = (page: IdPage) => grants.listApplications(actor, page)
    const { items, next } = await readList({ path: PATH, cursor }, list, describeApplication(actor, baseUrl))
    return reply.page('access/applications', {
      ...accountFrame('applications'),
      applications: items,
      next,
      done: doneText(request, DONE),
    })
  })

  app.post(`${PATH}/:id/removal`, idRoute, async (request, reply) => {
    await grants.removeApplication(actorOf(request), idOf(request))
    return reply.redirect(`${PATH}?done=removed`, 303)
  })
}
