import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { accountFrame } from '../accounts/index.ts'
import { type Actor, DEFAULT_PAGE_SIZE, serverUrl } from '../kernel/index.ts'
import { actorOf, formText, idPageOf, shownTime, toIdPage, uuidParam } from '../platform/http/index.ts'
import type { Grant } from './grant.ts'
import { type GrantService, mayUseServerOf } from './grants.service.ts'
import { SCOPE_WORDS } from './scope-words.ts'

const config = { access: 'user' } as const
const PATH = '/account/applications'

const Query = z.object({ done: formText, cursor: formText })
const Params = z.object({ id: uuidParam })

const describeApplication = (actor: Actor, baseUrl: string) => (grant: Grant) => ({
  id: grant.id,
  name: grant.client.name,
  // What it is called now is not for everybody to know who could use it once.
  serverName: mayUseServerOf(actor, grant) ? grant.server.name : undefined,
  serverUrl: serverUrl(baseUrl, grant.server.policy.serverId),
  scopes: grant.scopes.map(scope => SCOPE_WORDS[scope].title),
  since: shownTime(grant.createdAt),
  lastUsed: grant.lastUsedAt === undefined ? undefined : shownTime(grant.lastUsedAt),
})

/** The applications that act in one's own name, and taking that back. */
export const applicationPages =
  ({ grants, baseUrl }: { grants: GrantService; baseUrl: string }) =>
  async (app: FastifyInstance): Promise<void> => {
    const listApplications = async (request: FastifyRequest, cursor: string) => {
      const actor = actorOf(request)
      const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor: cursor === '' ? undefined : cursor })
      return toIdPage(await grants.listApplications(actor, page), page, describeApplication(actor, baseUrl))
    }

    app.get(PATH, { config }, async (request, reply) => {
      const { done, cursor } = Query.parse(request.query)
      const { items, nextCursor } = await listApplications(request, cursor)
      return reply.page('oauth/applications', {
        ...accountFrame('applications'),
        section: 'account',
        applications: items,
        next: nextCursor === null ? undefined : `${PATH}?${new URLSearchParams({ cursor: nextCursor })}`,
        done: done === 'removed' ? 'Taken back: its tokens are good for nothing from now on.' : undefined,
      })
    })

    app.post(`${PATH}/:id/removal`, { config, schema: { params: Params } }, async (request, reply) => {
      await grants.removeApplication(actorOf(request), Params.parse(request.params).id)
      return reply.redirect(`${PATH}?done=removed`, 303)
    })
  }
