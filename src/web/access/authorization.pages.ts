import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Actor, AppError } from '../kernel/index.ts'
import { type ConsentPageParts, consentPages } from './consent.pages.ts'
import type { FloodGate } from './flood-gate.ts'
import { dropCookies, type HandOver } from './hand-over.ts'
import { AUTHORIZE_PATH, SESSION_COOKIE } from './places.ts'
import type { Visit, Visits } from './visits.ts'

/** The whole request comes back as a parameter of the sign-in page's address, which must fit the headers. */
const MAX_ADDRESS_CHARACTERS = 4_096

const ANYONE = { access: 'anyone' } as const

/** Who is signed in to the dashboard with this browser. */
const browserUserOf = ({ signedInBy, actor }: FastifyRequest): Actor | undefined =>
  signedInBy === 'session' ? actor : undefined

export type AuthorizationPagesParts = Omit<ConsentPageParts, 'browserUserOf'> & {
  handOver: HandOver
  visits: Visits
  gate: FloodGate
}

/** What people read whose application was refused; what they can do about it, where it is for them to do. */
const explainRefusal = ({ error, description }: { error: string; description: string }): string =>
  error === 'invalid_client'
    ? `This Patchbay does not know the application, or does not any more (${error}). In the application, remove the server and add it anew: then it introduces itself again. If that does not help, tell who makes the application.`
    : `It asked for access in a way that cannot be answered: ${description || error} (${error}).`

const answerVisit = (reply: FastifyReply, { outcome }: Visit): FastifyReply => {
  if (outcome === undefined) return reply.hijack()
  if (outcome.kind === 'sign_in') {
    const returnTo = `${AUTHORIZE_PATH}?${outcome.parameters}`
    return reply.redirect(`/sign-in?${new URLSearchParams({ return_to: returnTo })}`, 303)
  }
  const { status, ...refusal } = outcome
  const data = { title: 'The application cannot be connected', detail: explainRefusal(refusal) }
  return reply.page('errors/error', data, { status })
}

/** The authorization endpoint and its pages; for a scope that `configurePages` has prepared. */
export const authorizationPages =
  (parts: AuthorizationPagesParts) =>
  async (app: FastifyInstance): Promise<void> => {
    const { loadEngine, handOver, visits, gate } = parts
    gate.guard(app)

    /** The library's session is a shadow of the dashboard's: another user's, from before, is not even shown to it. */
    const dropForeignSession = async (request: FastifyRequest, userId: string | undefined): Promise<void> => {
      const id = request.cookies[SESSION_COOKIE]
      if (id === undefined) return
      const { isSessionOf } = await loadEngine()
      if (await isSessionOf(id, userId)) return
      dropCookies(request, [SESSION_COOKIE, `${SESSION_COOKIE}.sig`])
    }

    const authorize = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      if (request.url.length > MAX_ADDRESS_CHARACTERS) {
        const message = `The application's request is longer than ${MAX_ADDRESS_CHARACTERS} characters.`
        throw new AppError('invalid_request', message)
      }
      const userId = browserUserOf(request)?.userId
      await dropForeignSession(request, userId)
      const visit = visits.begin(request.raw, userId)
      await handOver(request, reply)
      return answerVisit(reply, visit)
    }

    for (const url of [AUTHORIZE_PATH, `${AUTHORIZE_PATH}/:uid`]) {
      app.get(url, { config: ANYONE, exposeHeadRoute: false }, authorize)
    }
    await app.register(consentPages({ ...parts, browserUserOf }))
  }
