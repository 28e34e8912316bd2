import cookie from '@fastify/cookie'
import csrfProtection from '@fastify/csrf-protection'
import session from '@fastify/session'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isSafeMethod } from './access.ts'

/** A session without a request for this long is over. */
export const SESSION_IDLE_MS = 24 * 60 * 60 * 1_000
/** A session is over after this long, however busy. */
export const SESSION_ABSOLUTE_MS = 14 * 24 * 60 * 60 * 1_000
/** How often a busy session's end is moved on: not with every request, which would write with every read. */
const RENEW_EVERY_MS = 10 * 60 * 1_000

/** Where sessions are kept. `get` answers none whose `endsAt` has passed. */
export type SessionStore = session.SessionStore

export type SessionOptions = {
  store: SessionStore
  /** Signs the cookie; at least 32 characters, the same in every process. Several: the first signs, all are taken. */
  secret: string | string[]
  /** Whether the base URL is https. */
  isHttps: boolean
  /** Milliseconds since 1970. */
  now: () => number
}

declare module 'fastify' {
  interface Session {
    userId?: string
    /** When it was begun, and when it ends unless it is renewed: milliseconds since 1970. */
    startedAt?: number
    endsAt?: number
    /** Of the sign-in: how the browser named itself, cut off, and the network address. */
    userAgent?: string
    address?: string
  }
  interface FastifyInstance {
    sessionOptions: Pick<SessionOptions, 'isHttps' | 'now'>
  }
}

/** What is kept of a User-Agent: enough to know a browser by. */
const MAX_USER_AGENT_CHARACTERS = 256

/** `__Host-` binds the cookie to this host, to https and to the whole path (RFC 6265bis §4.1.3.2). */
export const sessionCookieName = (isHttps: boolean): string => (isHttps ? '__Host-sid' : 'sid')

const endOf = (startedAt: number, now: number): number =>
  Math.min(now + SESSION_IDLE_MS, startedAt + SESSION_ABSOLUTE_MS)

/** Moves the end of a session in use on. */
const renew = ({ session }: FastifyRequest, now: number): void => {
  const { startedAt, endsAt } = session
  if (startedAt === undefined || endsAt === undefined) return
  const end = endOf(startedAt, now)
  if (end - endsAt < RENEW_EVERY_MS) return
  session.endsAt = end
  session.touch()
}

const addSecure = (reply: FastifyReply, cookieName: string): void => {
  const header = reply.getHeader('set-cookie')
  if (header === undefined) return
  const lines = (Array.isArray(header) ? header : [String(header)]).map(line =>
    line.startsWith(`${cookieName}=`) && !/;\s*secure\b/i.test(line) ? `${line}; Secure` : line,
  )
  reply.removeHeader('set-cookie')
  reply.header('set-cookie', lines)
}

const FormWithToken = z.object({ _csrf: z.string() })

/** In the header, or in the hidden field of a form where the scope reads forms. */
const csrfTokenOf = ({ headers, body }: FastifyRequest): string | undefined => {
  const token = headers['x-csrf-token']
  return typeof token === 'string' ? token : FormWithToken.safeParse(body).data?._csrf
}

/** Sessions in a cookie, and the CSRF tokens that go with them. To be awaited before `checkAccess`. */
export const keepSessions = async (app: FastifyInstance, options: SessionOptions): Promise<void> => {
  const { store, secret, isHttps, now } = options
  const cookieName = sessionCookieName(isHttps)
  app.decorate('sessionOptions', { isHttps, now })
  await app.register(cookie)
  await app.register(session, {
    store,
    secret,
    cookieName,
    saveUninitialized: false,
    rolling: false,
    cookie: { path: '/', httpOnly: true, sameSite: 'lax', secure: false, maxAge: SESSION_IDLE_MS },
  })
  // With `secure: true` the plugin sets no cookie at all on a request that came over http, as from a proxy whose
  // headers are not trusted: it is the base URL that says how browsers come here.
  if (isHttps) app.addHook('onSend', async (_request, reply) => addSecure(reply, cookieName))
  app.addHook('onRequest', async request => renew(request, now()))
  await app.register(csrfProtection, {
    sessionPlugin: '@fastify/session',
    logLevel: 'debug',
    getToken: csrfTokenOf,
  })
}

/**
 * What is done in the name of a session cookie must prove that a page of ours asked for it. After `checkAccess`.
 * Routes for anyone are spared: they do nothing in the cookie's name.
 */
export const requireCsrfTokens = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const isBySession = request.signedInBy === 'session' && request.routeOptions.config.access !== 'anyone'
    if (isBySession && !isSafeMethod(request.method)) app.csrfProtection(request, reply, done)
    else done()
  })
}

/** Signs a user in, on a session of a new id so that one planted before is worth nothing. Answers the CSRF token. */
export const beginSession = async (request: FastifyRequest, reply: FastifyReply, userId: string): Promise<string> => {
  const now = request.server.sessionOptions.now()
  await request.session.regenerate()
  request.session.userId = userId
  request.session.startedAt = now
  request.session.endsAt = endOf(now, now)
  request.session.address = request.ip
  const userAgent = request.headers['user-agent']?.slice(0, MAX_USER_AGENT_CHARACTERS)
  if (userAgent !== undefined) request.session.userAgent = userAgent
  return reply.generateCsrf()
}

/** Of the session that a request is signed in by; undefined where that is a token, or nothing. */
export const sessionIdOf = ({ signedInBy, session }: FastifyRequest): string | undefined =>
  signedInBy === 'session' ? session.sessionId : undefined

/** Signs out: the session is gone from the store, and the browser is told to forget the cookie. */
export const endSession = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  const { isHttps } = request.server.sessionOptions
  await request.session.destroy()
  request.signedInBy = undefined
  reply.clearCookie(sessionCookieName(isHttps), { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps })
}
