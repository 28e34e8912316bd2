import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { OrganizationScope } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import { actorOf, type FindActors } from '../../lib/http/access.ts'
import { type SessionStore, sessionIdOf } from '../../lib/http/sessions.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { organizationScopeOf } from '../../servers/access/call-scope.store.ts'
import { idOf, idRoute } from '../frame/user-page.ts'
import type { Live } from './live.ts'
import { openLiveStream } from './live-stream.ts'
import { createFindViewer } from './viewer-actor.ts'

type Parts = { db: Database; live: Live; accounts: FindActors; sessionStore: SessionStore }

/** Returns whether a scope has all calls of another. A server that was added since does not end the stream. */
const includes = (scope: OrganizationScope, { serverIds, ownServerIds }: OrganizationScope): boolean => {
  const all = new Set(scope.serverIds)
  const own = new Set([...all, ...scope.ownServerIds])
  return serverIds.every(id => all.has(id)) && ownServerIds.every(id => own.has(id))
}

/** Registers `GET /organizations/:id/live`, which tells open pages of the history that there are new calls. */
export const organizationLivePages: FastifyPluginAsync<Parts> = async (app, { db, live, accounts, sessionStore }) => {
  const findViewer = createFindViewer(accounts, sessionStore)

  /** Returns whether the requesting user may still see all of these calls. */
  const maySee = async (request: FastifyRequest, scope: OrganizationScope): Promise<boolean> => {
    try {
      const actor = await findViewer(request)
      if (actor === undefined || !actor.scopes.has('read')) return false
      return includes(await organizationScopeOf(db, actor, scope.organizationId, 'read'), scope)
    } catch (error) {
      if (error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden')) return false
      throw error
    }
  }

  app.get('/organizations/:id/live', idRoute, async (request, reply) => {
    const actor = actorOf(request)
    const organizationId = idOf(request)
    const scope = await organizationScopeOf(db, actor, organizationId, 'read')
    const viewer = { organizationId, signInId: sessionIdOf(request) ?? actor.userId, userId: actor.userId }
    live.assertRoom(viewer)
    if (request.method === 'HEAD') return reply.type('text/event-stream').send('')
    const closed = Promise.withResolvers<void>()
    const stream = openLiveStream(reply, closed.resolve)
    const mayStay = () => maySee(request, scope)
    const detach = live.attachToOrganization({ ...viewer, mayStay }, scope, stream)
    void closed.promise.then(detach)
    return reply
  })
}
