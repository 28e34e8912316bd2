import type { FastifyRequest } from 'fastify'
import { isLoopbackHost } from './origins.ts'
import { findProxyHeader } from './proxy-headers.ts'

/** The origin of a request. */
export type Visitor = {
  /** Network address. */
  address: string
  /** Whether the request was made on this machine: it names a loopback host, and no proxy passed it on. */
  isLocal: boolean
}

/** Proxies such as nginx use it by default, and browsers do not. */
const PROXY_HTTP_VERSION = '1.0'

export const visitorOf = ({ ip, headers, raw }: Pick<FastifyRequest, 'ip' | 'headers' | 'raw'>): Visitor => ({
  address: ip,
  isLocal:
    isLoopbackHost(headers.host) && raw.httpVersion !== PROXY_HTTP_VERSION && findProxyHeader(headers) === undefined,
})
