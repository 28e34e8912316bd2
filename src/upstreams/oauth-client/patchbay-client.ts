import type { OAuthClientMetadata } from '@modelcontextprotocol/client'
import { AppError } from '../../lib/kernel/errors.ts'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { OAuthClient } from './account.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { wordsOf } from './oauth-words.ts'

export const CALLBACK_PATH = '/connect/callback'
const DOCUMENT_PATH = '/connect/client.json'

/** Far above what any server gives out. */
const MAX_CLIENT_CHARS = 16_384

/** What Patchbay says of itself to authorization servers: in its metadata document, and where it registers. */
export const describePatchbay = (baseUrl: string) => ({
  client_name: 'Patchbay',
  client_uri: baseUrl,
  redirect_uris: [`${baseUrl}${CALLBACK_PATH}`],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
})

export { DOCUMENT_PATH }

/** Where its client metadata document is; undefined where it has none, since servers fetch them by https alone. */
export const documentUrlOf = (baseUrl: string): string | undefined =>
  baseUrl.startsWith('https:') ? `${baseUrl}${DOCUMENT_PATH}` : undefined

/** PKCE is what ties a code to us; a server that wants a secret as well gives one out. */
const authMethodFor = ({ token_endpoint_auth_methods_supported: methods }: AuthorizationServer): string => {
  const known = ['none', 'client_secret_basic', 'client_secret_post']
  return methods === undefined ? 'none' : (known.find(method => methods.includes(method)) ?? 'none')
}

const cannotRegister = (why: string): AppError =>
  new AppError('unavailable', `The upstream cannot be connected: ${why}.`)

/** Has Patchbay registered (RFC 7591). Throws `unavailable`. */
export const registerPatchbay = async (
  server: AuthorizationServer,
  scope: string | undefined,
  { baseUrl, fetch }: { baseUrl: string; fetch: BoundedFetch },
): Promise<OAuthClient> => {
  if (server.registration_endpoint === undefined) {
    throw cannotRegister(
      'its authorization server registers nobody by itself; register Patchbay there by hand, and enter its client ID here',
    )
  }
  const clientMetadata: OAuthClientMetadata = {
    ...describePatchbay(baseUrl),
    token_endpoint_auth_method: authMethodFor(server),
  }
  const registered = await mcpClient()
    .registerClient(server.issuer, {
      metadata: server,
      clientMetadata,
      fetchFn: fetch,
      ...(scope !== undefined && { scope }),
    })
    .catch((error: unknown) => {
      throw cannotRegister(`its authorization server did not register Patchbay: ${wordsOf(error)}`)
    })
  const client = OAuthClient.parse(registered)
  if (client.client_id === '' || JSON.stringify(client).length > MAX_CLIENT_CHARS) {
    throw cannotRegister('its authorization server registered Patchbay as something that cannot be used')
  }
  return client
}
