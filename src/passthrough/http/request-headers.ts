import type { IncomingHttpHeaders } from 'node:http'
import { createHopCheck } from './hop-by-hop.ts'

export type HeaderParts = {
  headers: IncomingHttpHeaders
  /** Headers from the upstream's configuration, keyed by lowercase name. */
  configured: Readonly<Record<string, string>>
  /** Value for X-Forwarded-For. */
  forwardedFor: string
  /** From `forwardedOrigin`. */
  origin: Readonly<Record<string, string>>
  publicPath: string
}

/**
 * Headers that are not passed on: the caller's token and our cookies, headers about origin, path
 * and host that only proxies may set, and headers that Node handles itself.
 */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'authorization',
  'cf-connecting-ip',
  'client-ip',
  'cookie',
  'cookie2',
  'expect',
  'fastly-client-ip',
  'forwarded',
  'host',
  'proxy',
  'true-client-ip',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-host',
  'x-http-host-override',
  'x-real-ip',
  'x-rewrite-url',
])
const OUR_KINDS = /^x-(?:forwarded|original)(?:-|$)/

/**
 * Headers whose values we check under these exact names. Other spellings are dropped, because an upstream could read an
 * unchecked value from them.
 */
const CHECKED_HERE: ReadonlySet<string> = new Set(['content-length', 'mcp-session-id'])

/**
 * Returns a header name with hyphens instead of underscores. Servers that expose headers as variables treat both alike.
 */
const asRead = (name: string): string => (name.includes('_') ? name.replaceAll('_', '-') : name)

const isOurs = (name: string): boolean => NOT_PASSED_ON.has(name) || OUR_KINDS.test(name)

/** Builds the headers that tell an upstream our public origin. */
export const forwardedOrigin = (baseUrl: string) => {
  const { protocol, host, port } = new URL(baseUrl)
  return {
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-host': host,
    'x-forwarded-port': port !== '' ? port : protocol === 'https:' ? '443' : '80',
  }
}

/** Our name in the Via header (RFC 9110 §7.6.3). */
const PSEUDONYM = 'patchbay'
/**
 * Maximum number of Patchbay installations that a request may pass through. Forwarding to another Patchbay is allowed,
 * but loops are not.
 */
const MAX_PASSES = 5

/** Returns whether the request has passed through so many Patchbay installations that it must be in a loop. */
export const isLoop = ({ via = '' }: IncomingHttpHeaders): boolean => via.split(PSEUDONYM).length > MAX_PASSES

/** Builds the request headers for the upstream, without Host. */
export const buildPassedHeaders = ({ headers, configured, forwardedFor, origin, publicPath }: HeaderParts) => {
  const isHop = createHopCheck(headers.connection)
  const passed: Record<string, string | string[]> = {}
  for (const name in headers) {
    const value = headers[name]
    const read = asRead(name)
    if (value === undefined || isHop(read) || (read !== name && CHECKED_HERE.has(read))) continue
    if (!isOurs(read) && (read === name || configured[read] === undefined)) passed[name] = value
  }
  const { via } = headers
  passed.via = `${via === undefined ? '' : `${via}, `}1.1 ${PSEUDONYM}`
  passed['x-forwarded-for'] = forwardedFor
  return Object.assign(passed, origin, { 'x-forwarded-prefix': publicPath }, configured)
}
