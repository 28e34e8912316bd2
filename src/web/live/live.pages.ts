import { promisify } from 'node:util'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Actor, AppError } from '../kernel/index.ts'
import { actorOf, bearerOf, type SessionStore, sessionIdOf, uuidParam } from '../platform/http/index.ts'
import type { ServerService } from '../servers/index.ts'
import type { Live } from './live.ts'
import { openLiveStream } from './live-stream.ts'

type Accounts = {
  findActorByUserId: (userId: string) => Promise<Actor | undefined>
  findActorByToken: (token: string) => Promise<Actor | undefined>
}
type Parts = { live: Live; servers: Pick<ServerService, 'getServer'>; accounts: Accounts; sessionStore: SessionStore }

const Params = z.object({ uuid: uuidParam })
const SessionOfUser = z.looseObject({ userId: z.string() })

/** `GET /servers/:uuid/live`: what happens on a server, for its pages while they are open. */
export const livePages =
  ({ live, servers, accounts, sessionStore }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const readSession = promisify(sessionStore.get.bind(sessionStore))

    /** Who sent the request, asked for anew: signed out since, or without the token, it is nobody. */
    const findActor = async (request: FastifyRequest): Promise<Actor | undefined> => {
      const sessionId = sessionIdOf(request)
      if (sessionId === undefined) return accounts.findActorByToken(bearerOf(request) ?? '')
      const session = SessionOfUser.safeParse(await readSession(sessionId))
      return session.success ? accounts.findActorByUserId(session.data.userId) : undefined
    }

    const maySee = async (actor: Actor | undefined, serverId: string): Promise<boolean> => {
      if (actor === undefined || !actor.scopes.has('read')) return false
      try {
        await servers.getServer(actor, serverId)
        return true
      } catch (error) {
        if (error instanceof AppError && error.code === 'not_found') return false
        throw error
      }
    }

    app.get(
      '/servers/:uuid/live',
      { config: { access: 'user' }, schema: { params: Params } },
      async (request, reply) => {
        const actor = actorOf(request)
        const { uuid: serverId } = Params.parse(request.params)
        await servers.getServer(actor, serverId)
        const signInId = sessionIdOf(request) ?? actor.userId
        live.assertRoom({ serverId, signInId, userId: actor.userId })
        if (request.method === 'HEAD') return reply.type('text/event-stream').send('')
        const viewer = {
          serverId,
          signInId,
          userId: actor.userId,
          mayStay: async () => maySee(await findActor(request), serverId),
        }
        const closed = Promise.withResolvers<void>()
        const stream = openLiveStream(reply, closed.resolve)
        const detach = live.attach(viewer, stream)
        void closed.promise.then(detach)
        return reply
      },
    )
  }
