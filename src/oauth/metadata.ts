import { MCP_SCOPES } from '../lib/kernel/mcp-scopes.ts'
import { AUTH_METHODS } from './clients/oauth-client.ts'

/**
 * Builds the authorization server metadata (RFC 8414 §2, RFC 9207 §3, and the required members of OpenID Connect
 * Discovery). Everything derives from the base URL, never from the request.
 */
export const buildMetadata = (baseUrl: string) => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  registration_endpoint: `${baseUrl}/oauth/register`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  jwks_uri: `${baseUrl}/oauth/jwks`,
  scopes_supported: [...MCP_SCOPES, 'offline_access'],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: [...AUTH_METHODS],
  revocation_endpoint_auth_methods_supported: [...AUTH_METHODS],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
})
