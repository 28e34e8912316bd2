import { promisify } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { bearerOf, type FindActors } from '../../lib/http/access.ts'
import { type SessionStore, sessionIdOf } from '../../lib/http/sessions.ts'
import type { Actor } from '../../lib/kernel/actor.ts'

const SessionOfUser = z.looseObject({ userId: z.string() })

/**
 * Creates a function that looks up the requesting user again. It returns undefined if the user has signed out or the
 * token has been revoked.
 */
export const createFindViewer = (accounts: FindActors, sessionStore: SessionStore) => {
  const readSession = promisify(sessionStore.get.bind(sessionStore))
  return async (request: FastifyRequest): Promise<Actor | undefined> => {
    const sessionId = sessionIdOf(request)
    if (sessionId === undefined) return accounts.findActorByToken(bearerOf(request) ?? '')
    const session = SessionOfUser.safeParse(await readSession(sessionId))
    return session.success ? accounts.findActorByUserId(session.data.userId) : undefined
  }
}
