import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { isLoopback } from '../../lib/kernel/loopback.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { mcpClient } from '../connection/mcp-client.ts'

const MAX_URL_CHARS = 2_048
const MAX_LIST_ITEMS = 200
const MAX_ITEM_CHARS = 200

const address = z.string().max(MAX_URL_CHARS)
const strings = z.array(z.string().max(MAX_ITEM_CHARS)).max(MAX_LIST_ITEMS)

/** The part of an authorization server's metadata (RFC 8414 §2) that Patchbay uses. */
export const AuthorizationServer = z.object({
  issuer: address,
  authorization_endpoint: address,
  token_endpoint: address,
  registration_endpoint: address.optional(),
  revocation_endpoint: address.optional(),
  response_types_supported: strings,
  scopes_supported: strings.optional(),
  code_challenge_methods_supported: strings.optional(),
  token_endpoint_auth_methods_supported: strings.optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
})
export type AuthorizationServer = z.infer<typeof AuthorizationServer>

/**
 * Returns whether an address from third-party metadata is acceptable: https without credentials or fragment. Loopback
 * addresses are accepted only for an upstream on loopback, so that no browser is sent to other local services.
 */
export const isAllowedAddress = (text: string, upstreamUrl: string): boolean => {
  const url = URL.parse(text)
  const upstream = URL.parse(upstreamUrl)
  if (url === null || upstream === null || text.length > MAX_URL_CHARS) return false
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false
  if (isLoopback(url)) return isLoopback(upstream) && (url.protocol === 'https:' || url.protocol === 'http:')
  return url.protocol === 'https:'
}

/**
 * Parameters that the authorization request sets itself. The endpoint URL comes from a third party and must not preset
 * them, because it could request more access than the user is shown, or skip consent (RFC 6749 §3.1, RFC 9101, OpenID
 * Connect Core §3.1.2.1).
 */
const REQUEST_PARAMETERS = [
  'acr_values',
  'authorization_details',
  'claims',
  'id_token_hint',
  'login_hint',
  'max_age',
  'prompt',
  'request',
  'request_uri',
  'response_mode',
  'scope',
] as const

const withoutRequestParameters = (endpoint: string): string => {
  const url = new URL(endpoint)
  for (const name of REQUEST_PARAMETERS) url.searchParams.delete(name)
  return url.href
}

const CHECKED_ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint'] as const

/**
 * Checks an authorization server's metadata: usable endpoints, the code flow, and PKCE with S256, which clients must
 * require (MCP, basic/authorization). The error completes a sentence that starts with "its authorization server …".
 */
export const parseAuthorizationServer = (
  metadata: AuthorizationServerMetadata | undefined,
  { serverUrl, upstreamUrl }: { serverUrl: string; upstreamUrl: string },
): Result<AuthorizationServer, string> => {
  if (metadata === undefined) {
    const [first] = mcpClient().buildDiscoveryUrls(serverUrl)
    return failure(
      `has no metadata (RFC 8414) at ${first?.url.host ?? 'its address'} or the other well-known addresses`,
    )
  }
  const read = AuthorizationServer.safeParse(metadata)
  if (!read.success) return failure('has metadata that is too large or lacks an endpoint')
  for (const name of CHECKED_ENDPOINTS) {
    const endpoint = read.data[name]
    if (endpoint !== undefined && !isAllowedAddress(endpoint, upstreamUrl))
      return failure(`names a URL for ${name} that is not allowed: it must use https`)
  }
  const server = { ...read.data, authorization_endpoint: withoutRequestParameters(read.data.authorization_endpoint) }
  if (!server.response_types_supported.includes('code')) return failure('does not support the authorization code flow')
  if (server.code_challenge_methods_supported?.includes('S256') !== true)
    return failure('does not support PKCE with S256')
  const { revocation_endpoint: revocation, ...kept } = server
  return success(revocation !== undefined && isAllowedAddress(revocation, upstreamUrl) ? server : kept)
}
