import cookie from '@fastify/cookie'
import csrfProtection from '@fastify/csrf-protection'
import session from '@fastify/session'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import { isSafeMethod } from './access.ts'

/** Idle time after which a session ends. */
export const SESSION_IDLE_MS = DAY_MS
/** Time after which a session ends even if it is still in use. */
export const SESSION_ABSOLUTE_MS = 14 * DAY_MS
/**
 * Minimum time between two extensions of a session in use. Extending it on every request would turn each read into a
 * write.
 */
const RENEW_EVERY_MS = 10 * MINUTE_MS

/** Session store. `get` returns nothing for a session whose `endsAt` has passed. */
export type SessionStore = session.SessionStore

export type SessionOptions = {
  store: SessionStore
  /**
   * Keys for signing the cookie, with at least 32 characters each and the same in every process. New signatures use the
   * first key.
   */
  secrets: string[]
  /** Whether the base URL uses https. */
  isHttps: boolean
  /** Returns milliseconds since 1970. */
  now: () => number
}

declare module 'fastify' {
  interface Session {
    userId?: string
    /** Start and end of the session, in milliseconds since 1970. Using the session extends the end. */
    startedAt?: number
    endsAt?: number
    /** The browser's User-Agent (truncated) and the network address at sign-in. */
    userAgent?: string
    address?: string
  }
  interface FastifyInstance {
    sessionOptions: Pick<SessionOptions, 'isHttps' | 'now'>
  }
}

/** Maximum stored length of a User-Agent, enough to recognize the browser. */
const MAX_USER_AGENT_CHARACTERS = 256

/** Returns the cookie's name. `__Host-` restricts it to this host, https and the path `/` (RFC 6265bis §4.1.3.2). */
export const sessionCookieName = (isHttps: boolean): string => (isHttps ? '__Host-sid' : 'sid')

const endOf = (startedAt: number, now: number): number =>
  Math.min(now + SESSION_IDLE_MS, startedAt + SESSION_ABSOLUTE_MS)

/** Extends the session of a request. */
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

/** Returns the CSRF token from the header, or from the form's hidden field if the scope parses forms. */
const csrfTokenOf = ({ headers, body }: FastifyRequest): string | undefined => {
  const token = headers['x-csrf-token']
  return typeof token === 'string' ? token : FormWithToken.safeParse(body).data?._csrf
}

/** Sets up cookie sessions and their CSRF tokens. Await it before `checkAccess`. */
export const keepSessions = async (app: FastifyInstance, options: SessionOptions): Promise<void> => {
  const { store, secrets, isHttps, now } = options
  const cookieName = sessionCookieName(isHttps)
  app.decorate('sessionOptions', { isHttps, now })
  await app.register(cookie)
  await app.register(session, {
    store,
    secret: secrets,
    cookieName,
    saveUninitialized: false,
    rolling: false,
    cookie: { path: '/', httpOnly: true, sameSite: 'lax', secure: false, maxAge: SESSION_IDLE_MS },
  })
  // With `secure: true`, the plugin would not set a cookie on a request that arrives over http, such as from a proxy
  // whose headers are not trusted. The base URL decides instead, because it is the URL that browsers use.
  if (isHttps) app.addHook('onSend', async (_request, reply) => addSecure(reply, cookieName))
  // Not before the body has arrived, because the session is loaded again then.
  app.addHook('preHandler', async request => renew(request, now()))
  await app.register(csrfProtection, {
    sessionPlugin: '@fastify/session',
    logLevel: 'debug',
    getToken: csrfTokenOf,
  })
}

/**
 * Requires a CSRF token for every change made with a session cookie. Call after `checkAccess`. Public routes are exempt
 * because they do not act on behalf of the cookie's user.
 */
export const requireCsrfTokens = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const isBySession = request.signedInBy === 'session' && request.routeOptions.config.access !== 'anyone'
    if (isBySession && !isSafeMethod(request.method)) app.csrfProtection(request, reply, done)
    else done()
  })
}

/** Signs a user in and returns the CSRF token. Gives the session a new id to prevent session fixation. */
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

/** Returns the id of the session that authenticates the request, or undefined for a token or a signed-out visitor. */
export const sessionIdOf = ({ signedInBy, session }: FastifyRequest): string | undefined =>
  signedInBy === 'session' ? session.sessionId : undefined

/** Returns the user whose session sent the request. */
export const sessionUserIdOf = ({ signedInBy, actor }: FastifyRequest): string | undefined =>
  signedInBy === 'session' ? actor?.userId : undefined

/** Signs the user out: deletes the session from the store and clears the cookie. */
export const endSession = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  const { isHttps } = request.server.sessionOptions
  await request.session.destroy()
  request.signedInBy = undefined
  reply.clearCookie(sessionCookieName(isHttps), { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps })
}
