import {
  type AdapterFactory,
  type Client,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { ALL_MCP_SCOPES, MCP_SCOPES } from '../lib/kernel/mcp-scopes.ts'
import { suspendedText } from '../lib/kernel/suspensions.ts'
import { normalizeRequest, toParameters } from './authorization-request.ts'
import { createClientDocuments, MAX_DOCUMENT_BYTES } from './clients/client-documents.ts'
import { isRegistered } from './clients/known-clients.store.ts'
import { AUTH_METHODS } from './clients/oauth-client.ts'
import type { EngineParts } from './engine-parts.ts'
import { findGrantId } from './grants/consents.store.ts'
import { ANSWER_PARAMETER, AUTHORIZE_PATH, INTERACTION_PATH, SESSION_COOKIE } from './paths.ts'
import type { PendingAuthorizations } from './pending-authorizations.ts'
import { isServer, isUser } from './resource-servers.store.ts'
import type { SigningKey } from './signing-keys.store.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Lifetimes in seconds. */
const LIFETIMES = {
  AuthorizationCode: MINUTE,
  AccessToken: HOUR,
  RefreshToken: 30 * DAY,
  Interaction: 30 * MINUTE,
  // Follows the dashboard's session, and three redirects renew it. Must not be shorter than an interaction.
  Session: HOUR,
} as const

/** Minimum and maximum cache time of a document in seconds, whatever its headers say. */
const DOCUMENT_CACHE = { min: MINUTE, max: DAY } as const

const RESOURCE_REQUIRED =
  'the parameter resource (RFC 8707) is required: send the URL of the server to access, ' +
  'as given in its /.well-known/oauth-protected-resource document'

export type ProviderParts = EngineParts & {
  adapter: AdapterFactory
  signingKeys: readonly SigningKey[]
  /** The first key signs cookies. Cookies signed with any of the keys are valid. */
  cookieKeys: readonly string[]
}

/** Aborts a request to the authorization endpoint, so that a page responds to it. */
export abstract class PageNeeded extends errors.OIDCProviderError {
  override allow_redirect = false
}

/** The browser is redirected to sign in. */
class SignInNeeded extends PageNeeded {
  override readonly name = 'SignInNeeded'
  constructor() {
    super(401, 'login_required')
  }
}

/** The user chooses the server, because the client sent no resource. */
class ServerNeeded extends PageNeeded {
  override readonly name = 'ServerNeeded'
  readonly client: Client
  constructor(client: Client) {
    super(400, 'interaction_required')
    this.client = client
  }
}

/** Refuses to renew the tokens of a suspended user, and tells the client why. */
class AccountSuspended extends errors.CustomOIDCProviderError {
  constructor(reason: string) {
    super('invalid_grant', suspendedText('account', reason))
  }
}

/** Makes the dashboard's session determine who the user is. The library's own session follows it. */
const createPolicy = (pendingAuthorizations: PendingAuthorizations) => {
  const policy = interactionPolicy.base()
  const check = new interactionPolicy.Check('other_user', 'sign in to Patchbay', 'login_required', ctx => {
    const { oidc, req } = ctx
    const userId = pendingAuthorizations.get(req)?.userId
    if (userId === undefined && !oidc.prompts.has('none')) throw new SignInNeeded()
    return userId === undefined || userId !== oidc.session?.accountId
  })
  policy.get('login')?.checks.add(check, 0)
  return policy
}

const soleResourceOf = ({ oidc }: KoaContextWithOIDC): string | undefined => {
  const [first, ...more] = Object.keys(oidc.resourceServers ?? {})
  return more.length === 0 ? first : undefined
}

const createResourceIndicators = ({ db, resources, pendingAuthorizations }: ProviderParts) => ({
  enabled: true,
  /**
   * Lets the user choose the server if a registered client sends no resource at all to the authorization endpoint, as
   * MCP's TypeScript SDK does up to version 1.12. Clients with a metadata document are newer.
   */
  defaultResource: async (ctx: KoaContextWithOIDC, client: Client, oneOf?: readonly string[]): Promise<never> => {
    if (oneOf !== undefined) throw new errors.InvalidTarget('request one resource at a time')
    const pending = pendingAuthorizations.get(ctx.req)
    // The library drops an empty resource, but the query has it.
    const isLeftOpen = ctx.query.resource === undefined && !ctx.oidc.prompts.has('none')
    if (pending === undefined || !isLeftOpen || !(await isRegistered(db, client.clientId))) {
      throw new errors.InvalidTarget(RESOURCE_REQUIRED)
    }
    if (pending.userId === undefined) throw new SignInNeeded()
    if (ctx.query[ANSWER_PARAMETER] === 'no') throw new errors.AccessDenied('the user refused')
    throw new ServerNeeded(client)
  },
  getResourceServerInfo: async (ctx: KoaContextWithOIDC, resource: string) => {
    if (Array.isArray(ctx.oidc.params?.resource)) throw new errors.InvalidTarget('request one resource at a time')
    const { scope } = ctx.oidc.params ?? {}
    if (typeof scope === 'string' && !MCP_SCOPES.some(known => scope.split(' ').includes(known))) {
      throw new errors.InvalidScope(`request ${MCP_SCOPES.join(', ')} or both`, scope)
    }
    const serverId = resources.findServerId(resource)
    if (serverId === undefined || !(await isServer(db, serverId))) {
      throw new errors.InvalidTarget('the resource is not a server of this installation')
    }
    return {
      scope: ALL_MCP_SCOPES,
      audience: resources.urlOf(serverId),
      accessTokenTTL: LIFETIMES.AccessToken,
      accessTokenFormat: 'opaque' as const,
    }
  },
  useGrantedResource: async () => true,
})

/** Creates a function that records an error for the page of the authorization endpoint to show. */
const createErrorRecorder =
  (pendingAuthorizations: PendingAuthorizations): NonNullable<Configuration['renderError']> =>
  async (ctx, { error, error_description: description }, thrown) => {
    const pending = pendingAuthorizations.get(ctx.req)
    if (pending === undefined) {
      ctx.body = { error, ...(description !== undefined && { error_description: description }) }
      return
    }
    const parameters = toParameters({ ...ctx.oidc.params })
    if (thrown instanceof SignInNeeded) pending.outcome = { kind: 'sign_in', parameters }
    else if (thrown instanceof ServerNeeded) {
      pending.outcome = { kind: 'choose_server', parameters, client: thrown.client }
    } else pending.outcome = { kind: 'error', status: ctx.status, error, description: description ?? '' }
    ctx.respond = false
  }

const buildConfiguration = (parts: ProviderParts): Configuration => {
  const { db, adapter, signingKeys, cookieKeys, resources, pendingAuthorizations } = parts
  const { fetch, allowFetch, allowClient } = createClientDocuments(parts.documents, parts.counters)
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true, overwrite: true } as const
  return {
    adapter,
    jwks: { keys: [...signingKeys] },
    cookies: {
      keys: [...cookieKeys],
      names: { session: SESSION_COOKIE, interaction: 'op_interaction', resume: 'op_resume' },
      long: { ...cookie, path: '/oauth' },
      short: cookie,
    },
    routes: {
      authorization: AUTHORIZE_PATH,
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      jwks: '/oauth/jwks',
    },
    clientAuthMethods: [...AUTH_METHODS],
    // A client without metadata may be a program on a user's machine. Native clients always require consent.
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    responseTypes: ['code'],
    scopes: [],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    clientBasedCORS: () => true,
    ttl: LIFETIMES,
    interactions: { policy: createPolicy(pendingAuthorizations), url: (_ctx, { uid }) => `${INTERACTION_PATH}/${uid}` },
    findAccount: async (ctx, userId, token) => {
      // The library compares the resource right after this. At the token endpoint the library
      // parses the form itself, so the resource can only be normalized here.
      const requested = ctx.oidc.params?.resource
      if (token !== undefined && typeof requested === 'string')
        Object.assign(ctx.oidc.params ?? {}, { resource: resources.canonicalize(requested) })
      const suspended = parts.suspensions.ofUser(userId)
      // At the authorization endpoint, the dashboard's session decides who the user is.
      if (suspended !== undefined && token !== undefined) throw new AccountSuspended(suspended)
      if (suspended !== undefined || !(await isUser(db, userId))) return undefined
      return { accountId: userId, claims: async () => ({ sub: userId }) }
    },
    loadExistingGrant: async ctx => {
      const { provider, client, account, result } = ctx.oidc
      const resource = soleResourceOf(ctx)
      const serverId = resource === undefined ? undefined : resources.findServerId(resource)
      if (client === undefined || account === undefined || serverId === undefined) return undefined
      const parties = { userId: account.accountId, clientId: client.clientId, serverId }
      const grantId = result?.consent?.grantId ?? (await findGrantId(db, parties))
      return grantId === undefined ? undefined : provider.Grant.find(grantId)
    },
    renderError: createErrorRecorder(pendingAuthorizations),
    fetch,
    fetchResponseBodyLimits: { 'client_id metadata document': MAX_DOCUMENT_BYTES },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      resourceIndicators: createResourceIndicators(parts),
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        cacheDuration: DOCUMENT_CACHE,
        allowFetch,
        allowClient,
      },
    },
  }
}

/** Creates the authorization server's engine with all optional features off. Its issuer is the base URL. */
export const createProvider = (parts: ProviderParts): Provider => {
  const provider = new Provider(parts.baseUrl, buildConfiguration(parts))
  // `createForwardToLibrary` sets the forwarding headers, as a proxy would.
  provider.proxy = true
  provider.use(async (ctx, next) => {
    if (ctx.path === AUTHORIZE_PATH) ctx.query = normalizeRequest(ctx.query, parts.resources)
    await next()
  })
  return provider
}
