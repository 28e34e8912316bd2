import {
  type AdapterFactory,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { ALL_MCP_SCOPES, MCP_SCOPES } from '../kernel/index.ts'
import type { Counters } from '../platform/counters/index.ts'
import type { HttpClient } from '../platform/net/index.ts'
import { normaliseRequest, toParameters } from './authorization-request.ts'
import { createClientDocuments, MAX_DOCUMENT_BYTES } from './client-documents.ts'
import { AUTH_METHODS } from './oauth-client.ts'
import { AUTHORIZE_PATH, INTERACTION_PATH, SESSION_COOKIE } from './places.ts'
import type { Resources } from './resources.ts'
import type { SigningKey } from './signing-keys.store.ts'
import type { Visits } from './visits.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Seconds that each thing is good for. */
const LIFETIMES = {
  AuthorizationCode: MINUTE,
  AccessToken: HOUR,
  RefreshToken: 30 * DAY,
  Interaction: 30 * MINUTE,
  // Only goes along with the dashboard's, and is made anew by three redirects; no shorter than an interaction.
  Session: HOUR,
} as const

/** No shorter than this is a document remembered, whatever it says, and no longer. Seconds. */
const DOCUMENT_CACHE = { min: MINUTE, max: DAY } as const

const NAME_A_RESOURCE =
  'name the server that access is asked for: send its URL as the parameter resource (RFC 8707), ' +
  'as its /.well-known/oauth-protected-resource document says it'

export type ProviderParts = {
  baseUrl: string
  adapter: AdapterFactory
  signingKeys: readonly SigningKey[]
  /** Sign the cookies; the first signs, all are taken. */
  cookieKeys: readonly string[]
  counters: Counters
  /** For client metadata documents alone. */
  documents: Pick<HttpClient, 'send'>
  resources: Resources
  visits: Visits
  isServer: (id: string) => Promise<boolean>
  isUser: (id: string) => Promise<boolean>
  findGrantId: (parties: { userId: string; clientId: string; serverId: string }) => Promise<string | undefined>
}

/** Ends the request for now; the page of the endpoint sends the browser to sign in. */
export class SignInNeeded extends errors.OIDCProviderError {
  override readonly name = 'SignInNeeded'
  override allow_redirect = false
  constructor() {
    super(401, 'login_required')
  }
}

/** The dashboard's session says who the browser is; the library's own only goes along with it. */
const createPolicy = (visits: Visits) => {
  const policy = interactionPolicy.base()
  const check = new interactionPolicy.Check('other_user', 'sign in to Patchbay', 'login_required', ctx => {
    const { oidc, req } = ctx
    const userId = visits.find(req)?.userId
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

const createResourceIndicators = ({ resources, isServer }: ProviderParts) => ({
  enabled: true,
  defaultResource: async (_ctx: KoaContextWithOIDC, _client: unknown, oneOf?: readonly string[]): Promise<never> => {
    throw new errors.InvalidTarget(oneOf === undefined ? NAME_A_RESOURCE : 'ask for one resource at a time')
  },
  getResourceServerInfo: async (ctx: KoaContextWithOIDC, resource: string) => {
    if (Array.isArray(ctx.oidc.params?.resource)) throw new errors.InvalidTarget('ask for one resource at a time')
    const { scope } = ctx.oidc.params ?? {}
    if (typeof scope === 'string' && !MCP_SCOPES.some(known => scope.split(' ').includes(known))) {
      throw new errors.InvalidScope(`ask for ${MCP_SCOPES.join(', ')} or both`, scope)
    }
    const serverId = resources.findServerId(resource)
    if (serverId === undefined || !(await isServer(serverId))) {
      throw new errors.InvalidTarget('the resource is no server of this installation')
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

/** Writes down what went wrong, for the page of the endpoint to say. */
const createErrorNote =
  (visits: Visits): NonNullable<Configuration['renderError']> =>
  async (ctx, { error, error_description: description }, thrown) => {
    const visit = visits.find(ctx.req)
    if (visit === undefined) {
      ctx.body = { error, ...(description !== undefined && { error_description: description }) }
      return
    }
    visit.outcome =
      thrown instanceof SignInNeeded
        ? { kind: 'sign_in', parameters: toParameters({ ...ctx.oidc.params }) }
        : { kind: 'error', status: ctx.status, error, description: description ?? '' }
    ctx.respond = false
  }

const buildConfiguration = (parts: ProviderParts): Configuration => {
  const { adapter, signingKeys, cookieKeys, resources, visits } = parts
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
    // What says nothing of itself may be a program on somebody's machine: such are asked about each time.
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
    interactions: { policy: createPolicy(visits), url: (_ctx, { uid }) => `${INTERACTION_PATH}/${uid}` },
    findAccount: async (ctx, userId, token) => {
      // At the token endpoint, whose form the library reads: the resource is compared right after this.
      const asked = ctx.oidc.params?.resource
      if (token !== undefined && typeof asked === 'string')
        Object.assign(ctx.oidc.params ?? {}, { resource: resources.spell(asked) })
      if (!(await parts.isUser(userId))) return undefined
      return { accountId: userId, claims: async () => ({ sub: userId }) }
    },
    loadExistingGrant: async ctx => {
      const { provider, client, account, result } = ctx.oidc
      const resource = soleResourceOf(ctx)
      const serverId = resource === undefined ? undefined : resources.findServerId(resource)
      if (client === undefined || account === undefined || serverId === undefined) return undefined
      const parties = { userId: account.accountId, clientId: client.clientId, serverId }
      const grantId = result?.consent?.grantId ?? (await parts.findGrantId(parties))
      return grantId === undefined ? undefined : provider.Grant.find(grantId)
    },
    renderError: createErrorNote(visits),
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

/** The authorization server's engine, with all that it can do besides left out. Its issuer is the base URL. */
export const createProvider = (parts: ProviderParts): Provider => {
  const provider = new Provider(parts.baseUrl, buildConfiguration(parts))
  // We say ourselves where a request came from and to, as a proxy would.
  provider.proxy = true
  provider.use(async (ctx, next) => {
    if (ctx.path === AUTHORIZE_PATH) ctx.query = normaliseRequest(ctx.query, parts.resources)
    await next()
  })
  return provider
}
