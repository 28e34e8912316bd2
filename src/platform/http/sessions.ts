import cookie from '@fastify/cookie'
import csrfProtection from '@fastify/csrf-protection'
import session from '@fastify/session'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isSafeMethod } from './access.ts'

/** A session without a request for this long is over. */
export const SESSION_IDLE_MS = 24 * 60 * 60 * 1_000
/** A session is over after this long, however busy. */
export const SESSION_ABSOLUTE_MS = 14 * 24 * 60 * 60 * 1_000
/** How often a busy session's end is moved on: not with every request, which would write with every read. */
const RENEW_EVERY_MS = 10 * 60 * 1_000

export type SessionStore = session.SessionStore

export type SessionOptions = {
  store: SessionStore
  /** Signs the cookie; at least 32 characters, the same in every process. Several: the first signs, all are taken. */
  secret: string | string[]
  /** Whether the base URL is https. */
  isHttps: boolean
  now: () => number
}

/** `__Host-` binds the cookie to this host, to https and to the whole path (RFC 6265bis §4.1.3.2). */
export const sessionCookieName = (isHttps: boolean): string => (isHttps ? '__Host-sid' : 'sid')

/** Whether a session has outlived its idle or its absolute time. */
const isOver = (request: FastifyRequest, now: number): boolean => {
  const { startedAt, renewedAt } = request.session
  if (startedAt === undefined || renewedAt === undefined) return false
  return now - startedAt >= SESSION_ABSOLUTE_MS || now - renewedAt >= SESSION_IDLE_MS
}

/** Sessions in a cookie and the CSRF token that goes with them. Awaited before `checkAccess`. */
export const keepSessions = async (app: FastifyInstance, options: SessionOptions): Promise<void> => {
  const { store, secret, isHttps, now } = options
  const cookieName = sessionCookieName(isHttps)
  await app.register(cookie)
  await app.register(session, {
    store,
    secret,
    cookieName,
    saveUninitialized: false,
    rolling: false,
    cookie: { path: '/', httpOnly: true, sameSite: 'lax', secure: false, maxAge: SESSION_IDLE_MS },
  })
  if (isHttps) {
    // The plugin sets a Secure cookie only when the request itself came over https, which behind a proxy it seldom does.
    app.addHook('onSend', async (_request, reply) => addSecure(reply, cookieName))
  }
  app.addHook('onRequest', async request => {
    if (request.session?.userId === undefined) return
    if (isOver(request, now())) await request.session.regenerate()
    else if (now() - (request.session.renewedAt ?? 0) >= RENEW_EVERY_MS) {
      request.session.touch()
      request.session.renewedAt = now()
    }
  })
  await app.register(csrfProtection, {
    sessionPlugin: '@fastify/session',
    logLevel: 'debug',
    // Only the header: what a form can send is no proof.
    getToken: request => {
      const token = request.headers['x-csrf-token']
      return typeof token === 'string' ? token : undefined
    },
  })
}

/** What came with a session cookie and changes something must prove that a page of ours sent it. After `checkAccess`. */
export const requireCsrfTokens = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.signedInBy === 'session' && !isSafeMethod(request.method)) app.csrfProtection(request, reply, done)
    else done()
  })
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

/** Signs a user in on a session of a new id, so that one planted before is worth nothing. Answers the CSRF token. */
export const beginSession = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { userId, now }: { userId: string; now: number },
): Promise<string> => {
  await request.session.regenerate()
  request.session.userId = userId
  request.session.startedAt = now
  request.session.renewedAt = now
  return reply.generateCsrf()
}

/** Signs out: the session is gone from the store and the browser is told to forget the cookie. */
export const endSession = async (request: FastifyRequest, reply: FastifyReply, isHttps: boolean): Promise<void> => {
  await request.session.destroy()
  reply.clearCookie(sessionCookieName(isHttps), { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps })
}
