import { ALL_MCP_SCOPES, MCP_SCOPES } from '../lib/kernel/mcp-scopes.ts'
import type { Resources } from './resources.ts'

type Query = Record<string, string | string[] | undefined>

/**
 * Scopes that OpenID clients usually send. They are ignored: refresh tokens are issued anyway, and
 * user identity is not available.
 */
const OF_OTHERS: ReadonlySet<string> = new Set(['offline_access', 'openid', 'profile', 'email'])
const OPENID_PARAMETERS = ['acr_values', 'claims', 'claims_locales', 'id_token_hint', 'max_age', 'nonce'] as const
/** Supported prompts. Others are dropped, because the dashboard's session determines who the user is. */
const PROMPTS: ReadonlySet<string> = new Set(['none', 'consent'])

/**
 * Replaces response modes other than `query`, because the library's pages would need scripts for them, even to show an
 * error. The library rejects this value.
 */
const NO_MODE = 'unsupported'

const isOurs = (scope: string): boolean => MCP_SCOPES.some(known => known === scope)

/**
 * Returns the requested scopes that are supported (RFC 6749 §3.3). A request without scopes gets all supported scopes,
 * because many clients never send any. The library rejects a request that contains only unknown scopes.
 */
const readScope = (asked: string | undefined): string => {
  const words = (asked ?? '').split(' ').filter(word => word !== '' && !OF_OTHERS.has(word))
  if (words.length === 0) return ALL_MCP_SCOPES
  const ours = words.filter(isOurs)
  return ours.length === 0 ? words.join(' ') : ours.join(' ')
}

const readPrompt = (prompt: string): string | undefined =>
  prompt
    .split(' ')
    .filter(word => PROMPTS.has(word))
    .join(' ') || undefined

/** Returns resources in canonical form, without duplicates. */
const canonicalResource = (asked: string | string[], { canonicalize }: Resources): string | string[] => {
  const [first = '', ...more] = new Set([asked].flat().map(canonicalize))
  return more.length === 0 ? first : [first, ...more]
}

/** Normalizes an authorization request for the library. Keeps repeated parameters, which the library rejects. */
export const normalizeRequest = (query: Query, resources: Resources): Query => {
  const normal: Query = { ...query }
  for (const name of OPENID_PARAMETERS) delete normal[name]
  if (!Array.isArray(normal.scope)) normal.scope = readScope(normal.scope)
  if (typeof normal.prompt === 'string') normal.prompt = readPrompt(normal.prompt)
  if (normal.prompt === undefined) delete normal.prompt
  if (normal.response_mode !== undefined && normal.response_mode !== 'query') normal.response_mode = NO_MODE
  if (normal.resource !== undefined) normal.resource = canonicalResource(normal.resource, resources)
  return normal
}

/** Returns the parameters of a request as a query string, so that the browser can return to it. */
export const toParameters = (query: Readonly<Record<string, unknown>>): URLSearchParams => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (typeof one === 'string') parameters.append(name, one)
  }
  return parameters
}
