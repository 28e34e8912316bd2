import type { OAuthClientMetadata } from '@modelcontextprotocol/client'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { OAuthClient } from './account.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { cannotConnect, describeOAuthError } from './oauth-errors.ts'

export const CALLBACK_PATH = '/connect/callback'
const DOCUMENT_PATH = '/connect/client.json'

/** Maximum size of a registration, far above that of any real one. */
const MAX_CLIENT_CHARS = 16_384

/** Returns Patchbay's client metadata, which is used in its metadata document and in registrations. */
export const describePatchbay = (baseUrl: string) => ({
  client_name: 'Patchbay',
  client_uri: baseUrl,
  redirect_uris: [`${baseUrl}${CALLBACK_PATH}`],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
})

export { DOCUMENT_PATH }

/**
 * Returns the URL of Patchbay's client metadata document; undefined without https, because authorization servers fetch
 * the document only over https.
 */
export const clientDocumentUrl = (baseUrl: string): string | undefined =>
  baseUrl.startsWith('https:') ? `${baseUrl}${DOCUMENT_PATH}` : undefined

/** Prefers `none`, since PKCE already ties the code to Patchbay. Uses a client secret if the server requires one. */
const authMethodFor = ({ token_endpoint_auth_methods_supported: methods }: AuthorizationServer): string => {
  const known = ['none', 'client_secret_basic', 'client_secret_post']
  return methods === undefined ? 'none' : (known.find(method => methods.includes(method)) ?? 'none')
}

/** Registers Patchbay as a client (RFC 7591). Throws `unavailable`. */
export const registerPatchbay = async (
  server: AuthorizationServer,
  scope: string | undefined,
  { baseUrl, fetch }: { baseUrl: string; fetch: BoundedFetch },
): Promise<OAuthClient> => {
  if (server.registration_endpoint === undefined) {
    throw cannotConnect(
      'its authorization server does not support dynamic registration. Register Patchbay there by hand and enter the client ID here',
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
      throw cannotConnect(`its authorization server did not register Patchbay: ${describeOAuthError(error)}`)
    })
  const client = OAuthClient.parse(registered)
  if (client.client_id === '' || JSON.stringify(client).length > MAX_CLIENT_CHARS) {
    throw cannotConnect('its authorization server returned an unusable registration')
  }
  return client
}
