import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { isLoopback } from '../config/loopback.ts'
import { mcpClient } from '../connection/mcp-client.ts'

const MAX_URL_CHARS = 2_048
const MAX_WORDS = 200
const MAX_WORD_CHARS = 200

const address = z.string().max(MAX_URL_CHARS)
const words = z.array(z.string().max(MAX_WORD_CHARS)).max(MAX_WORDS)

/** What is kept of an authorization server's metadata (RFC 8414 §2): what Patchbay goes by, and no more. */
export const AuthorizationServer = z.object({
  issuer: address,
  authorization_endpoint: address,
  token_endpoint: address,
  registration_endpoint: address.optional(),
  revocation_endpoint: address.optional(),
  response_types_supported: words,
  scopes_supported: words.optional(),
  code_challenge_methods_supported: words.optional(),
  token_endpoint_auth_methods_supported: words.optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
})
export type AuthorizationServer = z.infer<typeof AuthorizationServer>

/**
 * Whether an address that a stranger's document names may be one of an authorization server: https without credentials
 * or fragment. Only for an upstream on this machine it may be plain http, and on this machine too: nobody's browser is
 * sent to what else runs where it does.
 */
export const isUsableAddress = (text: string, upstreamUrl: string): boolean => {
  const url = URL.parse(text)
  const upstream = URL.parse(upstreamUrl)
  if (url === null || upstream === null || text.length > MAX_URL_CHARS) return false
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false
  if (isLoopback(url)) return isLoopback(upstream) && (url.protocol === 'https:' || url.protocol === 'http:')
  return url.protocol === 'https:'
}

/**
 * What a request for authorization says, and the address that it goes to may not: that is a stranger's, who would have
 * more asked for than is shown, or have it given without a question (RFC 6749 §3.1, RFC 9101, OpenID Connect Core §3.1.2.1).
 */
const SAID_BY_REQUESTS = [
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

const withoutRequest = (endpoint: string): string => {
  const url = new URL(endpoint)
  for (const name of SAID_BY_REQUESTS) url.searchParams.delete(name)
  return url.href
}

/** The endpoints that are named; of them `revocation_endpoint` can be done without. */
const NEEDED = ['authorization_endpoint', 'token_endpoint'] as const

/**
 * What an authorization server says of itself, held to what is needed: endpoints that may be used, codes, and PKCE by
 * S256, which the specification has clients insist on (MCP, basic/authorization). Fails with why not.
 */
export const readAuthorizationServer = (
  metadata: AuthorizationServerMetadata | undefined,
  { serverUrl, upstreamUrl }: { serverUrl: string; upstreamUrl: string },
): Result<AuthorizationServer, string> => {
  if (metadata === undefined) {
    const [first] = mcpClient().buildDiscoveryUrls(serverUrl)
    return failure(`has no metadata (RFC 8414), at ${first?.url.host ?? 'its address'} or elsewhere`)
  }
  const read = AuthorizationServer.safeParse(metadata)
  if (!read.success) return failure('has metadata that are too large, or lack an endpoint')
  const named = read.data
  for (const name of NEEDED) {
    if (!isUsableAddress(named[name], upstreamUrl))
      return failure(`names a ${name} that cannot be used: it must be https`)
  }
  const server = { ...named, authorization_endpoint: withoutRequest(named.authorization_endpoint) }
  const { registration_endpoint: registration, revocation_endpoint: revocation } = server
  if (registration !== undefined && !isUsableAddress(registration, upstreamUrl)) {
    return failure('names a registration_endpoint that cannot be used: it must be https')
  }
  if (!server.response_types_supported.includes('code')) return failure('gives out no authorization codes')
  if (server.code_challenge_methods_supported?.includes('S256') !== true)
    return failure('does not offer PKCE with S256')
  const { revocation_endpoint: _, ...kept } = server
  return success(revocation !== undefined && isUsableAddress(revocation, upstreamUrl) ? server : kept)
}
