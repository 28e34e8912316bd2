import compress from '@fastify/compress'
import helmet from '@fastify/helmet'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { checkAccess, type FindActors, isSafeMethod } from '../access.ts'
import { type OriginPolicy, refuseForeignOrigins } from '../origins.ts'
import { createErrorReader, sendProblem, toProblem } from '../problem.ts'
import { isForPerson } from '../reader.ts'
import { keepSessions, type SessionOptions } from '../sessions.ts'
import { findAllowedMethods, watchRoutes } from '../unknown-routes.ts'
import { readForms } from './form-fields.ts'
import { takeFormsOnce } from './form-once.ts'
import { type TypedForm, takeTypedForm } from './typed-form.ts'
import { isFragmentRequest, renderViews, type ViewOptions } from './views.ts'

/** What becomes of a form that came too late: the pages for it are another folder's. */
export type TypedFormPages = {
  /** Nobody is signed in any more: asks them to sign in again, and carries along what they typed. */
  askToSignIn: (reply: FastifyReply, typed: TypedForm) => FastifyReply
  /** The same user has signed in meanwhile: offers what they typed, to be sent with the new session's token. */
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
    /** Of a page with a form for who is not signed in: it does nothing in a session's name and needs no token of one. */
    isForStrangers?: boolean
  }
}

/** Forms are small: what a page's own form holds fits many times. */
const MAX_FORM_BYTES = 256 * 1_024

/** What is smaller fits one packet anyway. */
const MIN_COMPRESSED_BYTES = 1_024

const signInAddress = ({ method, url }: FastifyRequest): string =>
  method === 'GET' ? `/sign-in?${new URLSearchParams({ return_to: url })}` : '/sign-in'

const codeOf = ({ cause }: AppError): string => (cause instanceof Error && 'code' in cause ? String(cause.code) : '')
const isStaleForm = (error: AppError): boolean => codeOf(error).startsWith('FST_CSRF_')

/** What is said in the API's words, in those for people who see a page. */
const forPeople = (error: AppError): AppError => {
  const { cause } = error
  const code = codeOf(error)
  if (isStaleForm(error)) {
    return new AppError('forbidden', 'This form is out of date: go back, reload the page, and send it again.', {
      cause,
    })
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_media_type', 'This address takes what a form sends.', { cause })
  }
  return error
}

const SESSION_OVER = new AppError('unauthenticated', 'Your session is over.')

const TOO_LONG = new AppError(
  'unauthenticated',
  'Your session is over, and what you typed is too long to be kept here. Go back with your browser, where it still stands, sign in in another tab, and send it again.',
)

/** Shows a form that came after the end of its session to who can send it again; undefined where none can be. */
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

/** The same errors as the API's, for people: a page that says what happened and what to do. */
const answerErrors = (pages: FastifyInstance, typedForms: TypedFormPages): void => {
  const read = createErrorReader(MAX_FORM_BYTES)
  const show = (request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply => {
    // What is under no address of ours was perhaps never meant to be a page.
    if (request.is404 && !isForPerson(request.headers)) return sendProblem(request, reply, error)
    // A part of a page stays where it is, with what was typed around it: for the next answer to take its place.
    if (isFragmentRequest(request)) {
      reply.headers({ 'hx-reswap': 'innerHTML', 'hx-reselect': '.note' })
      const isOver = error.code === 'unauthenticated' && request.actor === undefined
      const told = isOver ? SESSION_OVER : forPeople(error)
      return reply.fragment('errors/fragment', toProblem(told, request.id), told.status)
    }
    const rescued = rescueForm(request, reply, error, typedForms)
    if (rescued !== undefined) return rescued
    // Nobody is told what lies behind a page before they have signed in.
    if (error.code === 'unauthenticated' && request.actor === undefined) {
      return reply.redirect(signInAddress(request), 303)
    }
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
    return reply.page('errors/error', toProblem(forPeople(error), request.id), { status: error.status })
  }
  pages.setErrorHandler((error, request, reply) => show(request, reply, read(error, request)))
}

const TAKES_NO_FORM = 'This address shows a page, and takes nothing that is sent to it. Open it anew.'
const TAKES_A_FORM =
  'This address takes what a form sends, and shows nothing of its own. Go back to the page with the form.'

/** Whatever no route is for, of this scope or any beside it without a prefix. After the session is read. */
const answerUnknownAddresses = (pages: FastifyInstance): void => {
  const routes = watchRoutes(pages)
  const refuse = ({ url }: FastifyRequest, reply: FastifyReply): AppError => {
    const allowed = findAllowedMethods(routes, url)
    if (allowed.length === 0) return new AppError('not_found', 'There is nothing at this address.')
    reply.header('allow', allowed.join(', '))
    return new AppError('method_not_allowed', allowed.includes('GET') ? TAKES_NO_FORM : TAKES_A_FORM)
  }
  // Before the body is read, whatever it is.
  pages.addHook('onRequest', async (request, reply) => {
    if (request.is404) throw refuse(request, reply)
  })
  pages.setNotFoundHandler(async (request, reply) => {
    throw refuse(request, reply)
  })
}

/** What is done in the name of a session must come from a form of ours, which carries its token in `_csrf`. */
const requireFormTokens = (pages: FastifyInstance): void => {
  pages.addHook('preHandler', (request, reply, done) => {
    const isBySession = request.signedInBy === 'session' && request.routeOptions.config.isForStrangers !== true
    if (isBySession && !isSafeMethod(request.method)) pages.csrfProtection(request, reply, done)
    else done()
  })
}

/** PostgreSQL stores no NUL; elsewhere none is meant either. */
const refuseNul = (pages: FastifyInstance): void => {
  pages.addHook('preHandler', async ({ body }) => {
    const texts = typeof body === 'object' && body !== null ? Object.values(body).flat() : []
    if (texts.some(text => typeof text === 'string' && text.includes('\0'))) {
      throw new AppError('invalid_request', 'What was typed holds a NUL character.')
    }
  })
}

/**
 * Makes a scope of the server one of pages: forms, the session, HTML errors. To be awaited before its routes are
 * registered. Its routes say who may use them as the API's do; who is not signed in is sent to `/sign-in` and back.
 */
export const configurePages = async (pages: FastifyInstance, options: PagesOptions): Promise<void> => {
  await pages.register(helmet, {
    // Each page sets its own.
    contentSecurityPolicy: false,
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: options.sessions.isHttps,
    // With `no-referrer` browsers send `Origin: null` with our own forms; to other origins this says as little.
    referrerPolicy: { policy: 'same-origin' },
  })
  pages.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    reply.header('x-request-id', request.id)
    if (request.url.includes('%00')) throw new AppError('invalid_request', 'The address holds a NUL (%00).')
  })
  // The tokens in pages are salted anew each time: compressing them tells nothing (BREACH).
  await pages.register(compress, { globalDecompression: false, threshold: MIN_COMPRESSED_BYTES, encodings: ['gzip'] })
  renderViews(pages, options.views)
  answerErrors(pages, options.typedForms)
  refuseForeignOrigins(pages, options.origins)
  await keepSessions(pages, options.sessions)
  // After the body: what somebody typed whose session is over is to be kept.
  checkAccess(pages, options.actors, 'preValidation')
  answerUnknownAddresses(pages)
  pages.addHook('onRoute', route => {
    route.bodyLimit ??= MAX_FORM_BYTES
  })
  pages.removeAllContentTypeParsers()
  await readForms(pages)
  requireFormTokens(pages)
  takeFormsOnce(pages)
  refuseNul(pages)
}
