import compress from '@fastify/compress'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/index.ts'
import { checkAccess, type FindActors, isSafeMethod } from './access.ts'
import { type OriginPolicy, refuseForeignOrigins } from './origins.ts'
import { createErrorReader, toProblem } from './problem.ts'
import { keepSessions, type SessionOptions } from './sessions.ts'
import { isFragmentRequest, renderViews, type ViewOptions } from './views.ts'

export type PagesOptions = {
  origins: OriginPolicy
  sessions: SessionOptions
  actors: FindActors
  views: ViewOptions
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

/** What is said in the API's words, in those for people who see a page. */
const forPeople = (error: AppError): AppError => {
  const cause = error.cause
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code.startsWith('FST_CSRF_')) {
    return new AppError('forbidden', 'This form is out of date: go back, reload the page, and send it again.', {
      cause,
    })
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_media_type', 'This address takes what a form sends.', { cause })
  }
  return error
}

/** The same errors as the API's, for people: a page that says what happened and what to do. */
const answerErrors = (pages: FastifyInstance): void => {
  const read = createErrorReader(MAX_FORM_BYTES)
  const show = (request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply => {
    // A part of a page stays where it is, with what was typed around it.
    if (isFragmentRequest(request)) {
      return reply.fragment('errors/fragment', toProblem(error, request.id), error.status)
    }
    // Nobody is told what lies behind a page before they have signed in.
    if (error.code === 'unauthenticated' && request.actor === undefined) {
      return reply.redirect(signInAddress(request), 303)
    }
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
    return reply.page('errors/error', toProblem(error, request.id), { status: error.status })
  }
  pages.setErrorHandler((error, request, reply) => show(request, reply, forPeople(read(error, request))))
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
  answerErrors(pages)
  refuseForeignOrigins(pages, options.origins)
  await keepSessions(pages, options.sessions)
  checkAccess(pages, options.actors)
  pages.addHook('onRoute', route => {
    route.bodyLimit ??= MAX_FORM_BYTES
  })
  pages.removeAllContentTypeParsers()
  await pages.register(formbody)
  requireFormTokens(pages)
  refuseNul(pages)
}
