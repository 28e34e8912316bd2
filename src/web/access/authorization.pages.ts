import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { dropCookies, type ForwardToLibrary } from '../../oauth/forward-to-library.ts'
import { ANSWER_PARAMETER, AUTHORIZE_PATH, SESSION_COOKIE } from '../../oauth/paths.ts'
import type {
  AuthorizationOutcome,
  PendingAuthorization,
  PendingAuthorizations,
} from '../../oauth/pending-authorizations.ts'
import type { RequestLimiter } from '../../oauth/request-limiter.ts'
import { type ConsentPageParts, consentPages } from './consent.pages.ts'
import { createServerChoice, type ServerChoiceParts } from './server-choice.ts'

/**
 * Maximum length of the authorization URL. The sign-in page's URL contains it as a parameter and must itself fit within
 * the header size limit.
 */
const MAX_ADDRESS_CHARACTERS = 4_096
/** How much longer the URL may be once the page on which the user chooses a server has added its parameters. */
const MAX_ADDED_CHARACTERS = 1_000
const ADDED_PARAMETERS = ['q', 'cursor', ANSWER_PARAMETER, 'resource'] as const

const Query = z.record(z.string(), z.unknown())

const maxCharactersFor = (query: unknown): number => {
  const parameters = Query.parse(query)
  return MAX_ADDRESS_CHARACTERS + (ADDED_PARAMETERS.some(name => name in parameters) ? MAX_ADDED_CHARACTERS : 0)
}

const ANYONE = { access: 'anyone' } as const

/** Returns the user who is signed in to the dashboard in this browser. */
const browserUserOf = ({ signedInBy, actor }: FastifyRequest): Actor | undefined =>
  signedInBy === 'session' ? actor : undefined

export type AuthorizationPagesParts = Omit<ConsentPageParts, 'browserUserOf'> &
  ServerChoiceParts & {
    forwardToLibrary: ForwardToLibrary
    pendingAuthorizations: PendingAuthorizations
    limiter: RequestLimiter
  }

/** Explains to the user why the application was refused and what they can do about it. */
const explainRefusal = ({ error, description }: { error: string; description: string }): string =>
  error === 'invalid_client'
    ? `The application is not registered here, or no longer is (${error}). Remove the server in the application and add it again so that it registers again. If that does not help, contact the developer of the application.`
    : `The application sent an invalid request for access: ${description || error} (${error}).`

const redirectToSignIn = (reply: FastifyReply, parameters: URLSearchParams): FastifyReply => {
  const returnTo = `${AUTHORIZE_PATH}?${parameters}`
  return reply.redirect(`/sign-in?${new URLSearchParams({ return_to: returnTo })}`, 303)
}

const sendRefusal = (reply: FastifyReply, refusal: Extract<AuthorizationOutcome, { kind: 'error' }>): FastifyReply => {
  const data = { title: 'The application cannot be connected', detail: explainRefusal(refusal) }
  return reply.page('errors/error', data, { status: refusal.status })
}

/** Registers the authorization endpoint and its pages. Requires a Fastify scope set up by `configurePages`. */
export const authorizationPages: FastifyPluginAsync<AuthorizationPagesParts> = async (app, parts) => {
  const { loadEngine, forwardToLibrary, pendingAuthorizations, limiter } = parts
  app.addHook('onRequest', limiter)
  const askForServer = createServerChoice(parts)

  /** Drops the OAuth library's session cookie if it belongs to a different user than the dashboard session. */
  const dropForeignSession = async (request: FastifyRequest, userId: string | undefined): Promise<void> => {
    const id = request.cookies[SESSION_COOKIE]
    if (id === undefined) return
    const { isSessionOf } = await loadEngine()
    if (await isSessionOf(id, userId)) return
    dropCookies(request, [SESSION_COOKIE, `${SESSION_COOKIE}.sig`])
  }

  const authorize = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const maxCharacters = maxCharactersFor(request.query)
    if (request.url.length > maxCharacters) {
      throw new AppError('invalid_request', `The application's request is longer than ${maxCharacters} characters.`)
    }
    const actor = browserUserOf(request)
    const userId = actor?.userId
    await dropForeignSession(request, userId)
    const pending: PendingAuthorization = { userId, outcome: undefined }
    pendingAuthorizations.set(request.raw, pending)
    await forwardToLibrary(request, reply)
    const { outcome } = pending
    if (outcome === undefined) return reply.hijack()
    if (outcome.kind === 'error') return sendRefusal(reply, outcome)
    if (outcome.kind === 'sign_in' || actor === undefined) return redirectToSignIn(reply, outcome.parameters)
    return askForServer(request, reply, actor, outcome)
  }

  for (const url of [AUTHORIZE_PATH, `${AUTHORIZE_PATH}/:uid`]) {
    app.get(url, { config: ANYONE, exposeHeadRoute: false }, authorize)
  }
  await app.register(consentPages, { ...parts, browserUserOf })
}
