import { ALL_MCP_SCOPES, MCP_SCOPES } from '../kernel/index.ts'
import type { Resources } from './resources.ts'

type Query = Record<string, string | string[] | undefined>

/** What clients of OpenID providers are used to send, and what we give without: refresh tokens, and no identity. */
const OF_OTHERS: ReadonlySet<string> = new Set(['offline_access', 'openid', 'profile', 'email'])
const OPENID_PARAMETERS = ['acr_values', 'claims', 'claims_locales', 'id_token_hint', 'max_age', 'nonce'] as const
/** Who the user is, is for the dashboard's session to say. */
const PROMPTS: ReadonlySet<string> = new Set(['none', 'consent'])

/** The library knows modes that need scripts in its pages, and would answer by them even to say no. */
const NO_MODE = 'unsupported'

const isOurs = (scope: string): boolean => MCP_SCOPES.some(known => known === scope)

/**
 * The scope asked for, of which only ours count (RFC 6749 §3.3). Who asks for none gets all, since many clients never
 * ask for more. What is unknown alone is left for the library to refuse.
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

/** Spelled the one way; several spellings of one are one. */
const spellResource = (asked: string | string[], { spell }: Resources): string | string[] => {
  const [first = '', ...more] = new Set([asked].flat().map(spell))
  return more.length === 0 ? first : [first, ...more]
}

/** An authorization request as the library is to see it. Parameters that are there twice it refuses itself. */
export const normaliseRequest = (query: Query, resources: Resources): Query => {
  const normal: Query = { ...query }
  for (const name of OPENID_PARAMETERS) delete normal[name]
  if (!Array.isArray(normal.scope)) normal.scope = readScope(normal.scope)
  if (typeof normal.prompt === 'string') normal.prompt = readPrompt(normal.prompt)
  if (normal.prompt === undefined) delete normal.prompt
  if (normal.response_mode !== undefined && normal.response_mode !== 'query') normal.response_mode = NO_MODE
  if (normal.resource !== undefined) normal.resource = spellResource(normal.resource, resources)
  return normal
}

/** The parameters of a request as a query, to come back to it. */
export const toParameters = (query: Readonly<Record<string, unknown>>): URLSearchParams => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (typeof one === 'string') parameters.append(name, one)
  }
  return parameters
}
