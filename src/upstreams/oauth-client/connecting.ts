import { z } from 'zod'
import { AppError } from '../../lib/kernel/errors.ts'
import type { BoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { OutboundError } from '../../lib/outbound/http-client.ts'
import { type McpClient, mcpClient } from '../connection/mcp-client.ts'
import { type AccountContent, OAuthClient } from './account.ts'
import { AuthorizationServer, isUsableAddress, readAuthorizationServer } from './authorization-server.ts'
import { shownCode, wordsOf } from './oauth-words.ts'
import { readTokens } from './token-answer.ts'

/** The upstream to connect to, as it is at this moment. */
export type ConnectTarget = {
  /** Every `{{global}}` in its place. */
  url: string
  headers: Readonly<Record<string, string>>
  /** What to ask for; left out: what the upstream says it needs. */
  scopes?: readonly string[] | undefined
}

/** What one way to an authorization server and back is known by again. Sealed, it lies in the session of who went. */
export const Journey = z.object({
  url: z.string(),
  resource: z.string(),
  server: AuthorizationServer,
  client: OAuthClient,
  scope: z.string().optional(),
  codeVerifier: z.string(),
  redirectUri: z.string(),
})
export type Journey = z.infer<typeof Journey>

const MAX_SCOPE_CHARS = 2_048
/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/

/** Without its cause, which may hold what a stranger said: causes are logged. */
const cannotConnect = (why: string): AppError =>
  new AppError('unavailable', `The upstream cannot be connected: ${why}.`)

/** What an upstream that wants authorization says to a request without. */
const askWithout = async ({ url, headers }: ConnectTarget, fetch: BoundedFetch) => {
  const asked = new Headers(headers)
  asked.set('content-type', 'application/json')
  asked.set('accept', 'application/json, text/event-stream')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  try {
    const answer = await fetch(url, { method: 'POST', headers: asked, body })
    return answer.status === 401 ? mcpClient().extractWWWAuthenticateParams(answer) : {}
  } catch (error) {
    // A stream without an end, say, is an answer too: it asks for nothing.
    if (error instanceof OutboundError && (error.fault === 'timeout' || error.fault === 'too_large')) return {}
    throw cannotConnect(wordsOf(error))
  }
}

type ResourceMetadata = Awaited<ReturnType<McpClient['discoverOAuthProtectedResourceMetadata']>>

/** RFC 9728. Undefined where there are none, as with servers of before 2025-06-18, whose own origin authorizes. */
const findResource = async (
  url: string,
  named: URL | undefined,
  fetch: BoundedFetch,
): Promise<ResourceMetadata | undefined> => {
  if (named !== undefined && !isUsableAddress(named.href, url)) {
    throw cannotConnect('the metadata that it names are at an address that cannot be used')
  }
  try {
    const options = named === undefined ? {} : { resourceMetadataUrl: named }
    return await mcpClient().discoverOAuthProtectedResourceMetadata(url, options, fetch)
  } catch (error) {
    if (named === undefined && !(error instanceof OutboundError)) return undefined
    throw cannotConnect(`its metadata (RFC 9728) could not be read: ${wordsOf(error)}`)
  }
}

const assertSameResource = (url: string, { resource }: ResourceMetadata): void => {
  const requested = mcpClient().resourceUrlFromServerUrl(url)
  if (
    URL.canParse(resource) &&
    mcpClient().checkResourceAllowed({ requestedResource: requested, configuredResource: resource })
  )
    return
  throw cannotConnect('its metadata are those of another resource')
}

const findServer = async (url: string, serverUrl: string, fetch: BoundedFetch): Promise<AuthorizationServer> => {
  if (!isUsableAddress(serverUrl, url)) {
    throw cannotConnect('the authorization server that it names is at an address that cannot be used: it must be https')
  }
  const metadata = await mcpClient()
    .discoverAuthorizationServerMetadata(serverUrl, { fetchFn: fetch })
    .catch((error: unknown) => {
      throw cannotConnect(`the metadata of its authorization server (RFC 8414) could not be read: ${wordsOf(error)}`)
    })
  const read = readAuthorizationServer(metadata, { serverUrl, upstreamUrl: url })
  if (!read.ok) throw cannotConnect(`its authorization server ${read.error}`)
  return read.value
}

const scopeFrom = (asked: string | undefined): string | undefined =>
  asked !== undefined && asked.length <= MAX_SCOPE_CHARS && SCOPE.test(asked) ? asked : undefined

/** What the builder said, or the challenge, or the metadata; and that it is to last, where that is a scope. */
const chooseScope = (
  { scopes }: ConnectTarget,
  challenged: string | undefined,
  resource: ResourceMetadata | undefined,
  server: AuthorizationServer,
): string | undefined => {
  const said = scopes?.join(' ') ?? challenged ?? resource?.scopes_supported?.join(' ')
  const scope = scopeFrom(said)
  const lasts = server.scopes_supported?.includes('offline_access') === true
  if (scope === undefined || !lasts || scope.split(' ').includes('offline_access')) return scope
  return `${scope} offline_access`
}

export type Begun = { journey: Journey; authorizationUrl: string }

/** Finds out who authorizes for an upstream, and where to send somebody's browser for it. Throws `unavailable`. */
export const beginConnecting = async (
  target: ConnectTarget,
  {
    fetch,
    redirectUri,
    state,
    findClient,
  }: {
    fetch: BoundedFetch
    redirectUri: string
    state: string
    findClient: (server: AuthorizationServer, scope: string | undefined) => Promise<OAuthClient>
  },
): Promise<Begun> => {
  const { url } = target
  const challenge = await askWithout(target, fetch)
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
  const journey = { url, resource, server, client, codeVerifier, redirectUri, ...(scope !== undefined && { scope }) }
  return { journey, authorizationUrl: authorizationUrl.href }
}

const notConnected = (why: string): AppError =>
  new AppError('invalid_request', `The account was not connected: ${why}. Begin anew.`)

/** RFC 9207: what comes back is from who was asked, an error too. */
const assertIssuer = (answer: URLSearchParams, { server }: Journey): string | undefined => {
  const iss = answer.getAll('iss')
  try {
    if (iss.length > 1) throw new Error('named twice')
    mcpClient().validateAuthorizationResponseIssuer({
      iss: iss[0],
      expectedIssuer: server.issuer,
      issParameterSupported: server.authorization_response_iss_parameter_supported === true,
    })
  } catch {
    throw notConnected('the answer is from another authorization server than was asked')
  }
  return iss[0]
}

export type FinishParts = {
  fetch: BoundedFetch
  now: () => number
  /** Called before the client is shown to the authorization server; throws where it may not be. */
  tieSecret: (client: OAuthClient, issuer: string) => Promise<void>
}

/** Changes what came back with the browser for tokens. Throws `invalid_request`, or `unavailable`. */
export const finishConnecting = async (
  answer: URLSearchParams,
  journey: Journey,
  { fetch, now, tieSecret }: FinishParts,
): Promise<AccountContent> => {
  const { url, resource, server, client, redirectUri, codeVerifier } = journey
  const iss = assertIssuer(answer, journey)
  const refusal = answer.get('error')
  if (refusal !== null) {
    const code = shownCode(refusal)
    throw notConnected(`its authorization server refused${code === undefined ? '' : ` (${code})`}`)
  }
  const codes = answer.getAll('code')
  const [code] = codes
  if (code === undefined || code === '' || codes.length > 1) throw notConnected('there is no code in the answer')
  await tieSecret(client, server.issuer)
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
      throw notConnected(`its authorization server gave out no token: ${wordsOf(error)}`)
    })
  const tokens = readTokens(exchanged, now())
  if (!tokens.ok) throw notConnected(`what its authorization server gave out cannot be used: ${tokens.error}`)
  const scope = tokens.value.scope ?? journey.scope
  return { url, resource, server, client, tokens: { ...tokens.value, ...(scope !== undefined && { scope }) } }
}
