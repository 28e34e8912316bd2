import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/errors.ts'
import { isLoopback } from '../kernel/loopback.ts'
import { isSafeMethod } from './access.ts'

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const
/** The origins at which MCP Inspector serves its page by default. */
const INSPECTOR_ORIGINS = ['http://localhost:6274', 'http://127.0.0.1:6274']

/** Headers of MCP, OAuth and HTTP that pages may read (Fetch standard, "CORS protocol"). */
export const EXPOSED_HEADERS =
  'Mcp-Session-Id, MCP-Protocol-Version, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id'

export type OriginOptions = {
  /** Public URL of this installation. */
  baseUrl: string
  /** Additional allowed origins. */
  allowedOrigins: readonly string[]
  /** Whether only this machine can connect. If so, other host names are rejected to prevent DNS rebinding. */
  listensOnLoopback: boolean
}

/** Strips the port and converts to lowercase: `example.com` for `example.com:8080`, `[::1]` for `[::1]:8080`. */
const hostnameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '')

/** Returns whether a Host header, or a URL's host, is one of the three usual names of this machine. */
export const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && LOOPBACK_NAMES.some(name => name === hostnameOf(host))

/** Returns the base URL's origin. If the host is a loopback name, returns the origin for every loopback name. */
export const listOwnOrigins = (baseUrl: string): string[] => {
  const { protocol, host, port, origin } = new URL(baseUrl)
  if (!isLoopbackHost(host)) return [origin]
  return LOOPBACK_NAMES.map(name => new URL(`${protocol}//${name}${port && `:${port}`}`).origin)
}

/**
 * Creates a function that returns this installation's origin for a Host header: by the loopback name that it contains,
 * if the base URL has a loopback name and the same port. Otherwise returns the base URL.
 */
export const createOwnOrigin = (baseUrl: string) => {
  const { protocol } = new URL(baseUrl)
  const origins: ReadonlySet<string> = new Set(listOwnOrigins(baseUrl))
  return (host: string | undefined): string => {
    const origin = `${protocol}//${host?.toLowerCase()}`
    return origins.has(origin) ? origin : baseUrl
  }
}

/**
 * Decides from the Origin and Host headers whether a web page may send a request. Other programs send no Origin and are
 * allowed. Source: MCP, transports, "Security Warning"; RFC 6454 §7.
 */
export const createOriginPolicy = ({ baseUrl, allowedOrigins, listensOnLoopback }: OriginOptions) => {
  const origins: ReadonlySet<string> = new Set([...listOwnOrigins(baseUrl), ...allowedOrigins])
  const hosts: ReadonlySet<string> = new Set([...LOOPBACK_NAMES, new URL(baseUrl).hostname])
  /** The last allowed host, cached because nearly all requests have the same host. */
  let allowedHost: string | undefined
  return {
    isOriginAllowed: (origin: string | undefined): boolean => origin === undefined || origins.has(origin.toLowerCase()),
    isHostAllowed: (host: string | undefined): boolean => {
      if (!listensOnLoopback) return true
      if (host === undefined) return false
      if (host === allowedHost) return true
      if (!hosts.has(hostnameOf(host))) return false
      allowedHost = host
      return true
    },
  }
}
export type OriginPolicy = ReturnType<typeof createOriginPolicy>

/**
 * Creates the policy for endpoints that MCP clients call. Any website may call those that require a token, because
 * browsers do not add one, and read public documents. On loopback, only our own pages, MCP Inspector and
 * `allowedOrigins` may call: otherwise, every website that the user visits could use servers meant for this machine.
 */
export const createClientOrigins = ({ allowedOrigins, ...options }: OriginOptions) => {
  const isLocal = isLoopback(new URL(options.baseUrl))
  const known = isLocal ? [...allowedOrigins, ...INSPECTOR_ORIGINS] : allowedOrigins
  const { isOriginAllowed, isHostAllowed } = createOriginPolicy({ ...options, allowedOrigins: known })
  const isOpenTo = (origin: string | undefined): boolean => !isLocal || isOriginAllowed(origin)
  return {
    isHostAllowed,
    /** Whether a page may call what is open to any page. */
    isOriginAllowed: isOpenTo,
    /** Returns the value of Access-Control-Allow-Origin; undefined if this page may not call. */
    allowedOriginFor: (origin: string, isOpen: boolean): string | undefined => {
      if (isOpen && isOpenTo(origin)) return '*'
      return isOriginAllowed(origin) ? origin : undefined
    },
  }
}
export type ClientOrigins = ReturnType<typeof createClientOrigins>

/** Returns whether the browser reports a cross-site request. `none` marks requests that the user started directly. */
const isCrossSite = (request: FastifyRequest): boolean => {
  const site = request.headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Rejects requests from pages of other origins before anything else runs. */
export const refuseForeignOrigins = (app: FastifyInstance, policy: OriginPolicy): void => {
  app.addHook('onRequest', async request => {
    if (!policy.isHostAllowed(request.headers.host)) {
      throw new AppError('forbidden', 'The Host header does not match this installation.')
    }
    if (!policy.isOriginAllowed(request.headers.origin)) {
      throw new AppError('forbidden', 'Pages from this origin may not call the API.')
    }
    // An allowed Origin takes precedence: Sec-Fetch-Site ignores ports and does not know our other origins.
    if (request.headers.origin === undefined && !isSafeMethod(request.method) && isCrossSite(request)) {
      throw new AppError('forbidden', 'Pages from other sites may not call the API.')
    }
  })
}

/** Lets pages read the responses, without cookies, and rejects requests from pages that may not call. */
export const openToPages = (app: FastifyInstance, origins: ClientOrigins): void => {
  refuseForeignOrigins(app, origins)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', EXPOSED_HEADERS)
  })
}

/** Responds to a CORS preflight request for a document. `*` covers all headers but Authorization. */
export const sendDocumentPreflight = (reply: FastifyReply, allowedHeaders = '*'): FastifyReply =>
  reply
    .code(204)
    .headers({
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': '600',
    })
    .send()
