import { z } from 'zod'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { AUTH_METHODS } from './oauth-client.ts'
import { checkRedirectUris, type RedirectKind } from './redirects.ts'

export type RegistrationRefusal = {
  /** An error code from RFC 7591 §3.2.2. */
  error: 'invalid_redirect_uri' | 'invalid_client_metadata'
  description: string
}

export const MAX_REDIRECTS = 20
export const MAX_NAME_CHARACTERS = 80
const MAX_URI_CHARACTERS = 2_048

const words = z.array(z.string().max(200)).max(50)

/** The supported members (RFC 7591 §2). All others are not stored, and their URLs are not fetched. */
const Registration = z.object({
  redirect_uris: z.array(z.string()).min(1).max(MAX_REDIRECTS),
  client_name: z.string().max(1_000).optional().catch(undefined),
  client_uri: z.string().max(MAX_URI_CHARACTERS).optional().catch(undefined),
  token_endpoint_auth_method: z.enum(AUTH_METHODS).default('none'),
  application_type: z.enum(['web', 'native']).default('native'),
  grant_types: words.optional(),
  response_types: words.optional(),
})

const GRANT_TYPES = ['authorization_code', 'refresh_token']

/** Returns a name as a single line without invisible or direction-changing characters. */
export const cleanName = (name: string): string =>
  name
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME_CHARACTERS)
    .toWellFormed()

const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const applicationTypeOf = (kinds: readonly RedirectKind[], declared: 'web' | 'native'): 'web' | 'native' =>
  kinds.every(kind => kind === 'web') ? declared : 'native'

const describeIssue = ({ path, message }: z.core.$ZodIssue): string => {
  const [member = 'the body'] = path
  return `${String(member)}: ${message}`
}

const refuse = (error: RegistrationRefusal['error'], description: string) => failure({ error, description })

/**
 * Validates and normalizes client metadata. Drops unsupported grant types, response types and scopes instead of
 * rejecting them, because clients request what other servers support. A client with a redirect URI on the user's own
 * machine counts as native, whatever it declares.
 */
export const normalizeRegistration = (body: unknown): Result<JsonObject, RegistrationRefusal> => {
  const parsed = Registration.safeParse(body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const isRedirect = issue?.path[0] === 'redirect_uris'
    const description = issue === undefined ? 'the body is not client metadata' : describeIssue(issue)
    return refuse(isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata', description)
  }
  const { redirect_uris, client_name = '', client_uri, ...declared } = parsed.data
  const kinds = checkRedirectUris(redirect_uris)
  if (!kinds.ok) return refuse('invalid_redirect_uri', `redirect_uris ${kinds.error}`)
  const grantTypes = GRANT_TYPES.filter(type => declared.grant_types?.includes(type) ?? true)
  if (!grantTypes.includes('authorization_code')) {
    return refuse('invalid_client_metadata', 'grant_types must include authorization_code')
  }
  if (declared.response_types !== undefined && !declared.response_types.includes('code')) {
    return refuse('invalid_client_metadata', 'response_types must include code')
  }
  const name = cleanName(client_name)
  return success({
    redirect_uris: [...new Set(redirect_uris)],
    ...(name !== '' && { client_name: name }),
    ...(client_uri !== undefined && isWebAddress(client_uri) && { client_uri }),
    token_endpoint_auth_method: declared.token_endpoint_auth_method,
    application_type: applicationTypeOf(kinds.value, declared.application_type),
    grant_types: grantTypes,
    response_types: ['code'],
  })
}
