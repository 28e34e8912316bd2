import type { FastifyPluginAsync } from 'fastify'
import type { OrganizationScope } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import { actorOf, type FindActors } from '../../lib/http/access.ts'
import { type SessionStore, sessionIdOf } from '../../lib/http/sessions.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { organizationScopeOf } from '../../servers/access/call-scope.store.ts'
import { idOf, idRoute } from '../frame/user-page.ts'
import type { Live } from './live.ts'
import { openLiveStream } from './live-stream.ts'
import { createFindViewer } from './viewer-actor.ts'

type Parts = { db: Database; live: Live; accounts: FindActors; sessionStore: SessionStore }

/** Registers `GET /organizations/:id/live`, which tells open pages of the history that there are new calls. */
export const organizationLivePages: FastifyPluginAsync<Parts> = async (app, { db, live, accounts, sessionStore }) => {
  const findViewer = createFindViewer(accounts, sessionStore)

  /** Returns whether the actor may still see the same calls. */
  const maySee = async (actor: Actor | undefined, scope: OrganizationScope): Promise<boolean> => {
    if (actor === undefined || !actor.scopes.has('read')) return false
    try {
      const now = await organizationScopeOf(db, actor, scope.organizationId, 'read')
      return JSON.stringify(now) === JSON.stringify(scope)
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
    const mayStay = async () => maySee(await findViewer(request), scope)
    const detach = live.attachToOrganization({ ...viewer, mayStay }, scope, stream)
    void closed.promise.then(detach)
    return reply
  })
}
