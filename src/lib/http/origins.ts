import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/errors.ts'
import { isSafeMethod } from './access.ts'

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const

export type OriginOptions = {
  /** Public URL of this installation. */
  baseUrl: string
  /** Additional allowed origins. */
  allowedOrigins: readonly string[]
  /** Whether only this machine can connect. If so, other host names are rejected to prevent DNS rebinding. */
  listensOnLoopback: boolean
}

/** Returns the base URL's origin. If the host is a loopback name, returns the origin for every loopback name. */
const withLoopbackNames = (baseUrl: string): string[] => {
  const { protocol, hostname, port, origin } = new URL(baseUrl)
  if (!LOOPBACK_NAMES.some(name => name === hostname)) return [origin]
  return LOOPBACK_NAMES.map(name => new URL(`${protocol}//${name}${port && `:${port}`}`).origin)
}

/** Strips the port and converts to lowercase: `example.com` for `example.com:8080`, `[::1]` for `[::1]:8080`. */
const hostnameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '')

/** Returns whether a Host header, or a URL's host, names this machine only. */
export const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && LOOPBACK_NAMES.some(name => name === hostnameOf(host))

/**
 * Decides from the Origin and Host headers whether a web page may send a request. Other programs send no Origin and are
 * allowed. Source: MCP, transports, "Security Warning"; RFC 6454 §7.
 */
export const createOriginPolicy = ({ baseUrl, allowedOrigins, listensOnLoopback }: OriginOptions) => {
  const origins: ReadonlySet<string> = new Set([...withLoopbackNames(baseUrl), ...allowedOrigins])
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
