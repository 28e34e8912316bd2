import { z } from 'zod'
import { AppError } from '../../lib/kernel/errors.ts'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { OutboundError } from '../../lib/outbound/outbound-request.ts'
import { type McpClient, mcpClient } from '../connection/mcp-client.ts'
import { type AccountContent, OAuthClient } from './account.ts'
import { AuthorizationServer, isAllowedAddress, parseAuthorizationServer } from './authorization-server.ts'
import { cannotConnect, describeOAuthError, toSafeCode } from './oauth-errors.ts'
import { parseTokens } from './parse-tokens.ts'

export type ConnectTarget = {
  /** The upstream's URL, with every `{{global}}` replaced. */
  url: string
  /** The scopes to request. Defaults to those that the upstream requests. */
  scopes?: readonly string[] | undefined
}

/** State of one authorization while the user is at the authorization server. Stored sealed in the user's session. */
export const PendingAuthorization = z.object({
  url: z.string(),
  resource: z.string(),
  server: AuthorizationServer,
  client: OAuthClient,
  scope: z.string().optional(),
  codeVerifier: z.string(),
  redirectUri: z.string(),
})
export type PendingAuthorization = z.infer<typeof PendingAuthorization>

const MAX_SCOPE_CHARS = 2_048
/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/

/** Sends a request without a token and returns the challenge, if there is one. */
const requestChallenge = async ({ url }: ConnectTarget, fetch: BoundedFetch) => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  try {
    const response = await fetch(url, { method: 'POST', headers, body })
    return response.status === 401 ? mcpClient().extractWWWAuthenticateParams(response) : {}
  } catch (error) {
    // A response that is too slow or too large, such as an endless stream, is not a challenge either.
    if (error instanceof OutboundError && (error.fault === 'timeout' || error.fault === 'too_large')) return {}
    throw cannotConnect(describeOAuthError(error))
  }
}

type ResourceMetadata = Awaited<ReturnType<McpClient['discoverOAuthProtectedResourceMetadata']>>

/**
 * Reads the protected resource metadata (RFC 9728). Returns undefined if there is none: before 2025-06-18, a server's
 * own origin was its authorization server.
 */
const findResource = async (
  url: string,
  named: URL | undefined,
  fetch: BoundedFetch,
): Promise<ResourceMetadata | undefined> => {
  if (named !== undefined && !isAllowedAddress(named.href, url)) {
    throw cannotConnect('the address of its metadata is not allowed')
  }
  try {
    const options = named === undefined ? {} : { resourceMetadataUrl: named }
    return await mcpClient().discoverOAuthProtectedResourceMetadata(url, options, fetch)
  } catch (error) {
    if (named === undefined && !(error instanceof OutboundError)) return undefined
    throw cannotConnect(`its metadata (RFC 9728) could not be read: ${describeOAuthError(error)}`)
  }
}

const assertSameResource = (url: string, { resource }: ResourceMetadata): void => {
  const requested = mcpClient().resourceUrlFromServerUrl(url)
  if (
    URL.canParse(resource) &&
    mcpClient().checkResourceAllowed({ requestedResource: requested, configuredResource: resource })
  )
    return
  throw cannotConnect('its metadata describes another resource')
}

const findServer = async (url: string, serverUrl: string, fetch: BoundedFetch): Promise<AuthorizationServer> => {
  if (!isAllowedAddress(serverUrl, url)) {
    throw cannotConnect('the address of its authorization server is not allowed: it must use https')
  }
  const metadata = await mcpClient()
    .discoverAuthorizationServerMetadata(serverUrl, { fetchFn: fetch })
    .catch((error: unknown) => {
      throw cannotConnect(
        `the metadata of its authorization server (RFC 8414) could not be read: ${describeOAuthError(error)}`,
      )
    })
  const read = parseAuthorizationServer(metadata, { serverUrl, upstreamUrl: url })
  if (!read.ok) throw cannotConnect(`its authorization server ${read.error}`)
  return read.value
}

const scopeFrom = (text: string | undefined): string | undefined =>
  text !== undefined && text.length <= MAX_SCOPE_CHARS && SCOPE.test(text) ? text : undefined

/**
 * Returns the builder's scopes, or else those from the challenge or the metadata, in that order. Adds `offline_access`
 * if the server supports it.
 */
const chooseScope = (
  { scopes }: ConnectTarget,
  challenged: string | undefined,
  resource: ResourceMetadata | undefined,
  server: AuthorizationServer,
): string | undefined => {
  const requested = scopes?.join(' ') ?? challenged ?? resource?.scopes_supported?.join(' ')
  const scope = scopeFrom(requested)
  const supportsRefresh = server.scopes_supported?.includes('offline_access') === true
  if (scope === undefined || !supportsRefresh || scope.split(' ').includes('offline_access')) return scope
  return `${scope} offline_access`
}

/** Discovers an upstream's authorization server and returns where to send the user's browser. Throws `unavailable`. */
export const startConnecting = async (
  target: ConnectTarget,
  {
    fetch,
    redirectUri,
    state,
    findClient,
  }: {
    /** Adds the upstream's configured headers. */
    fetch: BoundedFetch
    redirectUri: string
    state: string
    findClient: (server: AuthorizationServer, scope: string | undefined) => Promise<OAuthClient>
  },
): Promise<{ authorization: PendingAuthorization; authorizationUrl: string }> => {
  const { url } = target
  const challenge = await requestChallenge(target, fetch)
  const found = await findResource(url, challenge.resourceMetadataUrl, fetch)
  if (found !== undefined) assertSameResource(url, found)
  const serverUrl = found?.authorization_servers?.[0] ?? new URL('/', url).href
  const server = await findServer(url, serverUrl, fetch)
  const scope = chooseScope(target, challenge.scope, found, server)
  const client = await findClient(server, scope)
  const resource = found?.resource ?? mcpClient().resourceUrlFromServerUrl(url).href
  const { authorizationUrl, codeVerifier } = await mcpClient().startAuthorization(server.issuer, {
    metadata: server,
    clientInformation: client,
    redirectUrl: redirectUri,
    state,
    resource,
    ...(scope !== undefined && { scope }),
  })
  const authorization = {
    url,
    resource,
    server,
    client,
    codeVerifier,
    redirectUri,
    ...(scope !== undefined && { scope }),
  }
  return { authorization, authorizationUrl: authorizationUrl.href }
}

const connectionFailed = (why: string): AppError =>
  new AppError('invalid_request', `The account was not connected: ${why}. Start again.`)

/** Checks that the response or error comes from the expected authorization server (RFC 9207). */
const assertIssuer = (response: URLSearchParams, { server }: PendingAuthorization): string | undefined => {
  const iss = response.getAll('iss')
  try {
    if (iss.length > 1) throw new Error('duplicate iss')
    mcpClient().validateAuthorizationResponseIssuer({
      iss: iss[0],
      expectedIssuer: server.issuer,
      issParameterSupported: server.authorization_response_iss_parameter_supported === true,
    })
  } catch {
    throw connectionFailed('the response is from a different authorization server')
  }
  return iss[0]
}

/** Exchanges the authorization code for tokens. Throws `invalid_request` or `unavailable`. */
export const finishConnecting = async (
  response: URLSearchParams,
  authorization: PendingAuthorization,
  {
    fetch,
    pinSecret,
  }: {
    /** Adds the upstream's configured headers. */
    fetch: BoundedFetch
    /** Called before the client secret is sent to the authorization server. Throws if the secret must not be sent. */
    pinSecret: (authorization: PendingAuthorization) => Promise<void>
  },
): Promise<AccountContent> => {
  const { url, resource, server, client, redirectUri, codeVerifier } = authorization
  const iss = assertIssuer(response, authorization)
  const refusal = response.get('error')
  if (refusal !== null) {
    const code = toSafeCode(refusal)
    throw connectionFailed(`its authorization server refused the request${code === undefined ? '' : ` (${code})`}`)
  }
  const codes = response.getAll('code')
  const [code] = codes
  if (code === undefined || code === '' || codes.length > 1)
    throw connectionFailed('the response has no authorization code')
  await pinSecret(authorization)
  const exchanged = await mcpClient()
    .exchangeAuthorization(server.issuer, {
      metadata: server,
      clientInformation: client,
      authorizationCode: code,
      codeVerifier,
      redirectUri,
      resource,
      fetchFn: fetch,
      ...(iss !== undefined && { iss }),
    })
    .catch((error: unknown) => {
      throw connectionFailed(`its authorization server issued no token: ${describeOAuthError(error)}`)
    })
  const tokens = parseTokens(exchanged, Date.now())
  if (!tokens.ok) throw connectionFailed(`its authorization server issued an unusable token: ${tokens.error}`)
  const scope = tokens.value.scope ?? authorization.scope
  return { url, resource, server, client, tokens: { ...tokens.value, ...(scope !== undefined && { scope }) } }
}
