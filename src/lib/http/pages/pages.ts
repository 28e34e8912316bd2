import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import helmet from '@fastify/helmet'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, unknownAddress } from '../../kernel/errors.ts'
import { checkAccess, type FindActors, isSafeMethod } from '../access.ts'
import { respondToCutOff } from '../cut-off.ts'
import { type OriginPolicy, refuseForeignOrigins } from '../origins.ts'
import { createErrorReader, sendProblem, toProblem } from '../problem.ts'
import { isForPerson } from '../reader.ts'
import { REQUEST_ID } from '../request-ids.ts'
import { keepSessions, type SessionOptions } from '../sessions.ts'
import { findAllowedMethods, watchRoutes } from '../unknown-routes.ts'
import { readForms } from './form-fields.ts'
import { takeFormsOnce } from './form-once.ts'
import { type TypedForm, takeTypedForm } from './typed-form.ts'
import { isFragmentRequest, renderViews, type ViewOptions } from './views.ts'

/** Responses to forms that were sent after their session ended. Passed in because their pages are in another folder. */
export type TypedFormPages = {
  /** Used if the session has ended. Asks the user to sign in again and preserves the form's input. */
  askToSignIn: (reply: FastifyReply, typed: TypedForm) => FastifyReply
  /** Used if the user has signed in again. Shows the form so that it can be sent with the new session's token. */
  offerAgain: (reply: FastifyReply, typed: TypedForm) => FastifyReply
}

export type PagesOptions = {
  origins: OriginPolicy
  sessions: SessionOptions
  actors: FindActors
  views: ViewOptions
  typedForms: TypedFormPages
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For pages with forms for signed-out visitors. They do not act for a session, so they need no CSRF token. */
    isForStrangers?: boolean
  }
}

/** Many times the size of our largest form. */
const MAX_FORM_BYTES = 256 * 1_024

/** Minimum size for compression. Smaller responses fit into one packet even uncompressed. */
const MIN_COMPRESSED_BYTES = 1_024
/** As fast as gzip, and smaller. */
const BROTLI_QUALITY = 5

const signInAddress = ({ method, url }: FastifyRequest): string =>
  method === 'GET' ? `/sign-in?${new URLSearchParams({ return_to: url })}` : '/sign-in'

const codeOf = ({ cause }: AppError): string => (cause instanceof Error && 'code' in cause ? String(cause.code) : '')
const isStaleForm = (error: AppError): boolean => codeOf(error).startsWith('FST_CSRF_')

/** Replaces messages meant for API clients with messages for people. */
const forPeople = (error: AppError): AppError => {
  const { cause } = error
  const code = codeOf(error)
  if (isStaleForm(error)) {
    return new AppError('forbidden', 'This form is out of date. Go back, reload the page, and submit it again.', {
      cause,
    })
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_media_type', 'This address accepts only forms.', { cause })
  }
  return error
}

const SESSION_OVER = new AppError('unauthenticated', 'Your session has ended.')

const TOO_LONG = new AppError(
  'unauthenticated',
  'Your session has ended, and your entries are too long to keep here. Go back in your browser to find them, sign in in another tab, and submit them again.',
)

/**
 * Shows a form that was sent after its session ended, so that the user can send it again. Returns undefined if it
 * cannot be sent again.
 */
const rescueForm = (
  request: FastifyRequest,
  reply: FastifyReply,
  error: AppError,
  { askToSignIn, offerAgain }: TypedFormPages,
): FastifyReply | undefined => {
  const { actor } = request
  const typed = takeTypedForm(request)
  const isOver = error.code === 'unauthenticated' && actor === undefined
  if (typed === 'too_long' && isOver)
    return reply.page('errors/error', toProblem(TOO_LONG, request.id), { status: 401 })
  if (typed === undefined || typed === 'too_long') return undefined
  if (isOver) return askToSignIn(reply, typed)
  return isStaleForm(error) && typed.userId === actor?.userId ? offerAgain(reply, typed) : undefined
}

/** Shows errors as pages, with the same error codes and statuses as the API. */
const answerErrors = (pages: FastifyInstance, typedForms: TypedFormPages): void => {
  const read = createErrorReader(MAX_FORM_BYTES)
  const show = (request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply => {
    // Requests for unknown URLs may come from programs.
    if (request.is404 && !isForPerson(request.headers)) return sendProblem(request, reply, error)
    // Shows the error within the page. The rest of the page, including the user's input, does not change.
    if (isFragmentRequest(request)) {
      reply.headers({ 'hx-reswap': 'innerHTML', 'hx-reselect': '.note' })
      const isOver = error.code === 'unauthenticated' && request.actor === undefined
      const shown = isOver ? SESSION_OVER : forPeople(error)
      return reply.fragment('errors/fragment', toProblem(shown, request.id), shown.status)
    }
    const rescued = rescueForm(request, reply, error, typedForms)
    if (rescued !== undefined) return rescued
    if (error.code === 'unauthenticated' && request.actor === undefined) {
      return reply.redirect(signInAddress(request), 303)
    }
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
    return reply.page('errors/error', toProblem(forPeople(error), request.id), { status: error.status })
  }
  pages.setErrorHandler((error, request, reply) => show(request, reply, read(error, request)))
  respondToCutOff(pages, show)
}

const TAKES_NO_FORM = 'This page does not accept forms. Open it again.'
const TAKES_A_FORM = 'This address accepts only forms. Go back to the page with the form.'

/**
 * Responds to requests that match no route in this scope or in sibling scopes without a prefix. Runs after the session
 * has been loaded.
 */
const respondToUnknownAddresses = (pages: FastifyInstance): void => {
  const routes = watchRoutes(pages)
  const refuse = ({ url }: FastifyRequest, reply: FastifyReply): AppError => {
    const allowed = findAllowedMethods(routes, url)
    if (allowed.length === 0) return unknownAddress()
    reply.header('allow', allowed.join(', '))
    return new AppError('method_not_allowed', allowed.includes('GET') ? TAKES_NO_FORM : TAKES_A_FORM)
  }
  // Rejects the request before its body is read.
  pages.addHook('onRequest', async (request, reply) => {
    if (request.is404) throw refuse(request, reply)
  })
  pages.setNotFoundHandler(async (request, reply) => {
    throw refuse(request, reply)
  })
}

/** Requires a CSRF token in the `_csrf` field for every change made with a session cookie. */
const requireFormTokens = (pages: FastifyInstance): void => {
  pages.addHook('preHandler', (request, reply, done) => {
    const isBySession = request.signedInBy === 'session' && request.routeOptions.config.isForStrangers !== true
    if (isBySession && !isSafeMethod(request.method)) pages.csrfProtection(request, reply, done)
    else done()
  })
}

/** Rejects form fields that contain NUL, which PostgreSQL cannot store. */
const refuseNul = (pages: FastifyInstance): void => {
  pages.addHook('preHandler', async ({ body }) => {
    const texts = typeof body === 'object' && body !== null ? Object.values(body).flat() : []
    if (texts.some(text => typeof text === 'string' && text.includes('\0'))) {
      throw new AppError('invalid_request', 'The form contains a NUL character.')
    }
  })
}

/**
 * Sets up a scope of the server for pages, with sessions, forms and HTML errors. Await it before registering routes.
 * Routes declare their access as in the API. Signed-out visitors are redirected to `/sign-in`, and back after they sign
 * in.
 */
export const configurePages = async (pages: FastifyInstance, options: PagesOptions): Promise<void> => {
  await pages.register(helmet, {
    // Set for each page in views.ts.
    contentSecurityPolicy: false,
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: options.sessions.isHttps,
    // With `no-referrer`, browsers would send `Origin: null` with our own forms. Other origins learn nothing either way.
    referrerPolicy: { policy: 'same-origin' },
  })
  pages.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    reply.header(REQUEST_ID, request.id)
    if (request.url.includes('%00'))
      throw new AppError('invalid_request', 'The address contains a NUL character (%00).')
  })
  // The CSRF tokens in each page get a new salt, so compression does not reveal them (BREACH).
  await pages.register(compress, {
    globalDecompression: false,
    threshold: MIN_COMPRESSED_BYTES,
    encodings: ['br', 'gzip'],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
  })
  renderViews(pages, options.views)
  answerErrors(pages, options.typedForms)
  refuseForeignOrigins(pages, options.origins)
  await keepSessions(pages, options.sessions)
  // Checks access after the body has been read, so that a form can be preserved if the session has expired.
  checkAccess(pages, options.actors, 'preValidation')
  respondToUnknownAddresses(pages)
  pages.addHook('onRoute', route => {
    route.bodyLimit ??= MAX_FORM_BYTES
  })
  pages.removeAllContentTypeParsers()
  await readForms(pages)
  requireFormTokens(pages)
  takeFormsOnce(pages)
  refuseNul(pages)
}
