import type { FastifyRequest } from 'fastify'
import { isLoopbackHost } from './origins.ts'

/** Where a request comes from. */
export type Visitor = {
  /** Network address. */
  address: string
  /** Whether the request was made on this machine: it names a loopback host, and no proxy passed it on. */
  isLocal: boolean
}

/** Headers with which proxies say that they passed a request on (RFC 7239; RFC 9110 §7.6.3). */
const PROXY_HEADER = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip)$/

export const visitorOf = ({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): Visitor => ({
  address: ip,
  isLocal: isLoopbackHost(headers.host) && !Object.keys(headers).some(name => PROXY_HEADER.test(name)),
})
