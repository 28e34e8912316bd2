import { failure, type Result, success } from '../../kernel/index.ts'
import { type PassthroughTarget, suffixOf } from '../../upstreams/index.ts'
import { createHopCheck } from './hop-by-hop.ts'

/**
 * What an upstream may say for an origin of its own, and not for ours: cookies and orders to browsers, which would hold
 * for the dashboard as well; whom to ask for tokens; which pages may read, which is ours to say.
 */
const NOT_FOR_US: ReadonlySet<string> = new Set([
  'set-cookie',
  'set-cookie2',
  'www-authenticate',
  'authentication-info',
  'alt-svc',
  'clear-site-data',
  'content-security-policy',
  'content-security-policy-report-only',
  'nel',
  'public-key-pins',
  'public-key-pins-report-only',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'strict-transport-security',
  'x-content-type-options',
])

/** A page of an upstream's is no page of ours: nothing in it runs, and nothing of ours can be reached from it. */
const CONFINED = ['content-security-policy', "sandbox; default-src 'none'", 'x-content-type-options', 'nosniff']

const ADDRESSES: ReadonlySet<string> = new Set(['location', 'content-location'])

export const isPassedBack = (name: string): boolean => !NOT_FOR_US.has(name) && !name.startsWith('access-control-')

export type AnswerParts = {
  /** Names and values in turn, as they came. */
  rawHeaders: readonly string[]
  connection: string | undefined
  /** Of the redirect or of what was made, as clients may have it; undefined where there is none, or it is nobody's business. */
  location: string | undefined
}

/** The headers of an upstream's answer as they go to the client: names and values in turn. */
export const buildAnswerHeaders = ({ rawHeaders, connection, location }: AnswerParts): string[] => {
  const isHop = createHopCheck(connection)
  const fields: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const lower = name.toLowerCase()
    if (!isHop(lower) && isPassedBack(lower) && !ADDRESSES.has(lower)) fields.push(name, rawHeaders[at + 1] ?? '')
  }
  if (location !== undefined) fields.push('location', location)
  return [...fields, ...CONFINED]
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** A client sends what it has sent once more, to wherever it is told. */
const REPEATING: ReadonlySet<number> = new Set([307, 308])

export type RedirectParts = {
  status: number
  location: string | undefined
  /** The address that was asked, and all addresses of the same upstream. */
  asked: string
  targets: readonly PassthroughTarget[]
  /** The server's own path, as clients write it. */
  publicPath: string
  /** Whether the caller has shown a token, which it would show to whoever it is sent to. */
  hasToken: boolean
  holdsSecret: (text: string) => boolean
}

const leak = (where: string): Result<never, string> =>
  failure(`The upstream redirected ${where}; nothing is passed on.`)

/**
 * Where an answer leads. What lies within the upstream leads back here. Elsewhere a client is sent only where it takes
 * nothing along; the error says why it is not.
 */
export const readLocation = (parts: RedirectParts): Result<string | undefined, string> => {
  const { status, location, asked, targets, publicPath, hasToken, holdsSecret } = parts
  if (location === undefined) return success(undefined)
  const isRedirect = REDIRECTS.has(status)
  // Header bytes arrive as Latin-1; what is beyond ASCII is UTF-8, as browsers take it.
  const url = URL.parse(Buffer.from(location, 'latin1').toString('utf8'), asked)
  if (url === null) return isRedirect ? leak('to what is no URL') : success(undefined)
  for (const target of targets) {
    const inside = suffixOf(target, url)
    if (inside === undefined) continue
    const path = `${publicPath}${inside.suffix}${inside.search}${url.hash}`
    return holdsSecret(path) ? leak('to an address that holds a secret') : success(path)
  }
  if (!isRedirect) return success(undefined)
  if (targets.some(({ url: { origin } }) => origin === url.origin)) return leak('out of its own path')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return leak('to what is no address of the web')
  if (hasToken || REPEATING.has(status))
    return leak('to another origin, which would get what was meant for this server')
  return holdsSecret(url.href) ? leak('to an address that holds a secret') : success(url.href)
}
