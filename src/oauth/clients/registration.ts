import { randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { failure, type JsonObject, type Result, success } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import { sealClientSecret } from './client-secrets.ts'
import { createSelfRegisteredClient } from './known-clients.store.ts'
import { AUTH_METHODS } from './oauth-client.ts'
import { checkRedirectUris, type RedirectKind } from './redirects.ts'

export type RegistrationRefusal = {
  /** RFC 7591 §3.2.2. */
  error: 'invalid_redirect_uri' | 'invalid_client_metadata'
  description: string
}

export const MAX_REDIRECTS = 20
export const MAX_NAME_CHARACTERS = 80
const MAX_URI_CHARACTERS = 2_048
const SECRET_BYTES = 32

const words = z.array(z.string().max(200)).max(50)

/** What is read of a registration (RFC 7591 §2); all the rest is neither kept nor fetched. */
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

/** A name on one line, without what is not seen or turns the text around. */
export const cleanName = (name: string): string =>
  name
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME_CHARACTERS)
    .toWellFormed()

const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const applicationTypeOf = (kinds: readonly RedirectKind[], said: 'web' | 'native'): 'web' | 'native' =>
  kinds.every(kind => kind === 'web') ? said : 'native'

const describeIssue = ({ path, message }: z.core.$ZodIssue): string => {
  const [member = 'the body'] = path
  return `${String(member)}: ${message}`
}

const refuse = (error: RegistrationRefusal['error'], description: string) => failure({ error, description })

/**
 * What a client asks to be registered with, as it is kept. Clients ask for what other servers offer as well: grant
 * types that we do not have and scopes are left out rather than refused, and one that answers on the user's own
 * machine is a native one, whatever it says.
 */
export const normaliseRegistration = (body: unknown): Result<JsonObject, RegistrationRefusal> => {
  const parsed = Registration.safeParse(body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const isRedirect = issue?.path[0] === 'redirect_uris'
    const description = issue === undefined ? 'the body is no client metadata' : describeIssue(issue)
    return refuse(isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata', description)
  }
  const { redirect_uris, client_name = '', client_uri, ...said } = parsed.data
  const kinds = checkRedirectUris(redirect_uris)
  if (!kinds.ok) return refuse('invalid_redirect_uri', `redirect_uris ${kinds.error}`)
  const grantTypes = GRANT_TYPES.filter(type => said.grant_types?.includes(type) ?? true)
  if (!grantTypes.includes('authorization_code')) {
    return refuse('invalid_client_metadata', 'grant_types must include authorization_code')
  }
  if (said.response_types !== undefined && !said.response_types.includes('code')) {
    return refuse('invalid_client_metadata', 'response_types must include code')
  }
  const name = cleanName(client_name)
  return success({
    redirect_uris: [...new Set(redirect_uris)],
    ...(name !== '' && { client_name: name }),
    ...(client_uri !== undefined && isWebAddress(client_uri) && { client_uri }),
    token_endpoint_auth_method: said.token_endpoint_auth_method,
    application_type: applicationTypeOf(kinds.value, said.application_type),
    grant_types: grantTypes,
    response_types: ['code'],
  })
}

/** Registers clients that ask for it themselves (RFC 7591); the answer shows the secret of one that has one, once. */
export const createRegistrations = ({ db, sealing, now }: { db: Database; sealing: Sealing; now: () => number }) => ({
  register: async (body: unknown): Promise<Result<JsonObject, RegistrationRefusal>> => {
    const normal = normaliseRegistration(body)
    if (!normal.ok) return normal
    const clientId = randomUUID()
    const isPublic = normal.value.token_endpoint_auth_method === 'none'
    const secret = isPublic ? undefined : randomBytes(SECRET_BYTES).toString('base64url')
    const owner = { organizationId: undefined, clientId }
    const sealed = secret === undefined ? undefined : sealClientSecret(sealing, owner, secret)
    await createSelfRegisteredClient(db, clientId, normal.value, sealed)
    return success({
      client_id: clientId,
      client_id_issued_at: Math.floor(now() / 1_000),
      ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
      ...normal.value,
    })
  },
})
export type Registrations = ReturnType<typeof createRegistrations>
