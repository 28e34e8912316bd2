import type { IncomingHttpHeaders } from 'node:http'
import { createHopCheck } from './hop-by-hop.ts'

export type HeaderParts = {
  headers: IncomingHttpHeaders
  /** Of the upstream's configuration, by names in lower case. */
  configured: Readonly<Record<string, string>>
  /** Addresses from the client to us, as proxies write them. */
  forwardedFor: string
  /** Where clients see the server. */
  seenAt: SeenAt
  publicPath: string
}

/**
 * What is for us alone: the caller's token and our cookies, what a caller could say of its own origin, or of the path
 * and host that it asks for, that only proxies may, and what Node has answered already.
 */
const OURS: ReadonlySet<string> = new Set([
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

/** What is read here by its own name: in another spelling it would say to the upstream what nobody here has heard. */
const READ_HERE: ReadonlySet<string> = new Set(['content-length', 'mcp-session-id'])

/** As servers that hand headers on as variables read names: a line for a hyphen. */
const asRead = (name: string): string => (name.includes('_') ? name.replaceAll('_', '-') : name)

const isOurs = (name: string): boolean => OURS.has(name) || OUR_KINDS.test(name)

/** The origin that clients see, in its parts. */
export type SeenAt = { protocol: string; host: string; port: string }

export const readSeenAt = (baseUrl: string): SeenAt => {
  const { protocol, host, port } = new URL(baseUrl)
  return { protocol: protocol.slice(0, -1), host, port: port !== '' ? port : protocol === 'https:' ? '443' : '80' }
}

/** How we call ourselves among the proxies on the way (RFC 9110 §7.6.3). */
const PSEUDONYM = 'patchbay'
/** Passing on to another Patchbay is fine; going round is not. */
const MAX_PASSES = 5

/** Whether the request has come through so many of us that it goes round. */
export const goesRound = ({ via = '' }: IncomingHttpHeaders): boolean => via.split(PSEUDONYM).length > MAX_PASSES

/** The headers of a request as they go to the upstream, but for the name of its host. */
export const buildPassedHeaders = ({ headers, configured, forwardedFor, seenAt, publicPath }: HeaderParts) => {
  const isHop = createHopCheck(headers.connection)
  const passed: Record<string, string | string[]> = {}
  for (const name in headers) {
    const value = headers[name]
    const read = asRead(name)
    if (value === undefined || isHop(read) || (read !== name && READ_HERE.has(read))) continue
    if (!isOurs(read) && (read === name || configured[read] === undefined)) passed[name] = value
  }
  const { via } = headers
  passed.via = `${via === undefined ? '' : `${via}, `}1.1 ${PSEUDONYM}`
  passed['x-forwarded-for'] = forwardedFor
  passed['x-forwarded-proto'] = seenAt.protocol
  passed['x-forwarded-host'] = seenAt.host
  passed['x-forwarded-port'] = seenAt.port
  passed['x-forwarded-prefix'] = publicPath
  return Object.assign(passed, configured)
}
