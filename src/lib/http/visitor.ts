import type { FastifyRequest } from 'fastify'
import { isLoopbackHost } from './origins.ts'

/** The origin of a request. */
export type Visitor = {
  /** Network address. */
  address: string
  /** Whether the request was made on this machine: it names a loopback host, and no proxy passed it on. */
  isLocal: boolean
}

/** Headers with which proxies say that they passed a request on (RFC 7239; RFC 9110 §7.6.3; those of products). */
const PROXY_HEADER = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-.*|x-real-ip|x-client-ip|true-client-ip|cf-.*)$/
/** Proxies such as nginx use it by default, and browsers do not. */
const PROXY_HTTP_VERSION = '1.0'

export const visitorOf = ({ ip, headers, raw }: Pick<FastifyRequest, 'ip' | 'headers' | 'raw'>): Visitor => ({
  address: ip,
  isLocal:
    isLoopbackHost(headers.host) &&
    raw.httpVersion !== PROXY_HTTP_VERSION &&
    !Object.keys(headers).some(name => PROXY_HEADER.test(name)),
})
