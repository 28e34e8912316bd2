import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { CountedCalls } from '../../history/call-figures.store.ts'
import { actorOf, type FindActors } from '../../lib/http/access.ts'
import { type SessionStore, sessionIdOf } from '../../lib/http/sessions.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { onlyCallerShown, policyOf } from '../../servers/access/access.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { serverIdOf, serverRoute } from '../frame/server-tab.ts'
import type { Live } from './live.ts'
import { openLiveStream } from './live-stream.ts'
import { createFindViewer } from './viewer-actor.ts'

type Parts = { live: Live; servers: Pick<ServerService, 'getServer'>; accounts: FindActors; sessionStore: SessionStore }

/** Registers `GET /servers/:uuid/live`, which streams a server's events to its open pages. */
export const livePages: FastifyPluginAsync<Parts> = async (app, { live, servers, accounts, sessionStore }) => {
  const findActor = createFindViewer(accounts, sessionStore)

  /** Returns the only caller whose calls the actor may see; undefined if they may see all calls. */
  const findOnlyCaller = async (actor: Actor, serverId: string): Promise<string | undefined> =>
    onlyCallerShown(policyOf(await servers.getServer(actor, serverId)), actor)

  /** Returns whether the requesting user may still see the same calls. */
  const maySee = async (request: FastifyRequest, { serverId, callerId }: CountedCalls): Promise<boolean> => {
    try {
      const actor = await findActor(request)
      if (actor === undefined || !actor.scopes.has('read')) return false
      return (await findOnlyCaller(actor, serverId)) === callerId
    } catch (error) {
      if (error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden')) return false
      throw error
    }
  }

  app.get('/servers/:uuid/live', serverRoute, async (request, reply) => {
    const actor = actorOf(request)
    const serverId = serverIdOf(request)
    const seen = { serverId, callerId: await findOnlyCaller(actor, serverId) }
    const signInId = sessionIdOf(request) ?? actor.userId
    live.assertRoom({ ...seen, signInId, userId: actor.userId })
    if (request.method === 'HEAD') return reply.type('text/event-stream').send('')
    const viewer = {
      ...seen,
      signInId,
      userId: actor.userId,
      mayStay: async () => maySee(request, seen),
    }
    const closed = Promise.withResolvers<void>()
    const stream = openLiveStream(reply, closed.resolve)
    const detach = live.attach(viewer, stream)
    void closed.promise.then(detach)
    return reply
  })
}
