import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/errors.ts'
import { isSafeMethod } from './access.ts'

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const

export type OriginOptions = {
  /** The origin that clients see. */
  baseUrl: string
  /** Origins besides it. */
  allowedOrigins: readonly string[]
  /** Whether only this machine can connect: then names other than its own are refused (DNS rebinding). */
  listensOnLoopback: boolean
}

/** The same origin under each of this machine's names, when it is one of them. */
const withLoopbackNames = (baseUrl: string): string[] => {
  const { protocol, hostname, port, origin } = new URL(baseUrl)
  if (!LOOPBACK_NAMES.some(name => name === hostname)) return [origin]
  return LOOPBACK_NAMES.map(name => new URL(`${protocol}//${name}${port && `:${port}`}`).origin)
}

/** `example.com` of `example.com:8080`, `[::1]` of `[::1]:8080`; lower case. */
const hostnameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '')

/**
 * Which browsers' pages may call, by the headers Origin and Host. Programs send no Origin and are not asked for one.
 * Source: MCP, transports, "Security Warning"; RFC 6454 §7.
 */
export const createOriginPolicy = ({ baseUrl, allowedOrigins, listensOnLoopback }: OriginOptions) => {
  const origins: ReadonlySet<string> = new Set([...withLoopbackNames(baseUrl), ...allowedOrigins])
  const hosts: ReadonlySet<string> = new Set([...LOOPBACK_NAMES, new URL(baseUrl).hostname])
  /** The last that was allowed: nearly always the next one as well. */
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

/** A browser says where a request comes from; `none` is the user's own doing. */
const isCrossSite = (request: FastifyRequest): boolean => {
  const site = request.headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Refuses what a page of another origin sends, before anything else is looked at. */
export const refuseForeignOrigins = (app: FastifyInstance, policy: OriginPolicy): void => {
  app.addHook('onRequest', async request => {
    if (!policy.isHostAllowed(request.headers.host)) {
      throw new AppError('forbidden', 'The Host header is not one that this installation answers to.')
    }
    if (!policy.isOriginAllowed(request.headers.origin)) {
      throw new AppError('forbidden', 'Pages of this origin may not call the API.')
    }
    // An Origin that is allowed says more than the site does, which knows nothing of ports and names.
    if (request.headers.origin === undefined && !isSafeMethod(request.method) && isCrossSite(request)) {
      throw new AppError('forbidden', 'Pages of another site may not call the API.')
    }
  })
}
