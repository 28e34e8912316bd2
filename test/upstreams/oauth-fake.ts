import { randomBytes } from 'node:crypto'
import { answerJson, type SeenRequest, startFakeApi } from '../support/fake-api.ts'

type Reply = { status?: number; headers?: Record<string, string>; body: unknown }

/** How the authorization server and the protected MCP server deviate from the standards, each independently. */
export type Behaviour = {
  /** Lifetime of issued tokens, in seconds. */
  expiresIn: number | undefined
  /** Whether issued tokens are rejected. */
  refusesTokens: boolean
  /** Overrides of the metadata of the protected server and of the authorization server. */
  resource: (origin: string) => Record<string, unknown> | Reply
  server: (origin: string) => Record<string, unknown> | Reply
  /** The protected server's challenge. */
  challenge: (origin: string) => string
  registration: Reply | undefined
  /** The response sent instead of tokens. */
  token: Reply | undefined
  /** The response sent instead of renewed tokens. */
  renewal: Reply | undefined
  /** Whether a GET returns a stream that stays open even if its token is revoked. */
  streams: boolean
  /** Delays renewals until the promise resolves. */
  beforeRenewal: () => Promise<void>
  /** Delays the response to a revocation until the promise resolves. */
  afterRevocation: () => Promise<void>
  scopeNeeded: string | undefined
  /** Given to every account. */
  instructions: string | undefined
  /** The error with which tools/list fails. */
  unlisted: string | undefined
}

const usual = (): Behaviour => ({
  expiresIn: 3_600,
  refusesTokens: false,
  resource: () => ({}),
  server: () => ({}),
  challenge: origin => `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="read"`,
  registration: undefined,
  token: undefined,
  renewal: undefined,
  streams: false,
  beforeRenewal: async () => {},
  afterRevocation: async () => {},
  scopeNeeded: undefined,
  instructions: undefined,
  unlisted: undefined,
})

const isReply = (value: Record<string, unknown> | Reply): value is Reply => 'body' in value

const random = (): string => randomBytes(16).toString('hex')

const rpc = (text: string): { id?: unknown; method?: string; params?: { name?: string } } => JSON.parse(text)

const resultOf = (
  { method, params }: ReturnType<typeof rpc>,
  authorization: string,
  instructions: string | undefined,
): object => {
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'guarded', version: '1', title: `seen ${authorization}` },
      ...(instructions !== undefined && { instructions }),
    }
  }
  const inputSchema = { type: 'object' }
  if (method === 'tools/list') return { tools: ['whoami', 'fail'].map(name => ({ name, inputSchema })) }
  const content = [{ type: 'text', text: `you showed ${authorization}` }]
  return { content, isError: params?.name === 'fail' }
}

/**
 * Starts an MCP server that requires a token, together with the authorization server that issues it. Tests can script
 * both.
 */
export const startOAuthFake = async () => {
  let behaviour = usual()
  const codes = new Set<string>()
  const access = new Set<string>()
  const refresh = new Set<string>()
  const given: string[] = []
  const revoked: URLSearchParams[] = []
  const exchanges: { form: URLSearchParams; authorization: string | undefined }[] = []

  const send = (response: Parameters<Parameters<typeof startFakeApi>[0]>[1], reply: Reply): void => {
    const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers }).end(body)
  }

  const issue = (): Record<string, unknown> => {
    const tokens = { access_token: `at-${random()}`, refresh_token: `rt-${random()}` }
    access.add(tokens.access_token)
    refresh.add(tokens.refresh_token)
    given.push(tokens.access_token, tokens.refresh_token)
    return {
      ...tokens,
      token_type: 'Bearer',
      ...(behaviour.expiresIn !== undefined && { expires_in: behaviour.expiresIn }),
    }
  }

  const answerToken = async (form: URLSearchParams): Promise<Reply> => {
    if (form.get('grant_type') === 'refresh_token') {
      await behaviour.beforeRenewal()
      if (behaviour.renewal !== undefined) return behaviour.renewal
      // A refresh token can be used only once.
      if (!refresh.delete(form.get('refresh_token') ?? '')) return { status: 400, body: { error: 'invalid_grant' } }
      return { body: issue() }
    }
    if (!codes.delete(form.get('code') ?? '')) return { status: 400, body: { error: 'invalid_grant' } }
    return behaviour.token ?? { body: issue() }
  }

  const answerMcp = ({ method, headers, body }: SeenRequest, origin: string): Reply => {
    const authorization = headers.authorization ?? ''
    const isGood = access.has(authorization.replace(/^Bearer /, '')) && !behaviour.refusesTokens
    if (!isGood) return { status: 401, headers: { 'www-authenticate': behaviour.challenge(origin) }, body: {} }
    if (method !== 'POST') return { status: 405, body: {} }
    const request = rpc(body)
    const { scopeNeeded } = behaviour
    if (request.method === 'tools/call' && scopeNeeded !== undefined) {
      const challenge = `Bearer error="insufficient_scope", scope="${scopeNeeded}"`
      return { status: 403, headers: { 'www-authenticate': challenge }, body: {} }
    }
    if (request.id === undefined) return { status: 202, body: '' }
    const known = ['initialize', 'tools/list', 'tools/call'].includes(request.method ?? '')
    const { unlisted, instructions } = behaviour
    const isUnlisted = request.method === 'tools/list' && unlisted !== undefined
    const error = isUnlisted ? { code: -32603, message: unlisted } : { code: -32601, message: 'Method not found' }
    const answer = known && !isUnlisted ? { result: resultOf(request, authorization, instructions) } : { error }
    return { body: { jsonrpc: '2.0', id: request.id, ...answer } }
  }

  const api = await startFakeApi((request, response) => {
    const { origin } = api
    const { pathname } = new URL(request.url, origin)
    const metadata = (usually: object, said: Record<string, unknown> | Reply): void =>
      isReply(said) ? send(response, said) : answerJson(response, { ...usually, ...said })
    if (pathname === '/mcp') {
      const reply = answerMcp(request, origin)
      if (reply.status !== 405 || !behaviour.streams) return send(response, reply)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n')
      return
    }
    if (pathname === '/.well-known/oauth-protected-resource/mcp') {
      return metadata({ resource: `${origin}/mcp`, authorization_servers: [origin] }, behaviour.resource(origin))
    }
    if (pathname === '/.well-known/oauth-authorization-server') {
      return metadata(
        {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          revocation_endpoint: `${origin}/revoke`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        },
        behaviour.server(origin),
      )
    }
    if (pathname === '/register') {
      return send(
        response,
        behaviour.registration ?? { status: 201, body: { ...JSON.parse(request.body), client_id: `c-${random()}` } },
      )
    }
    if (pathname === '/token') {
      const form = new URLSearchParams(request.body)
      exchanges.push({ form, authorization: request.headers.authorization })
      void answerToken(form).then(reply => send(response, reply))
      return
    }
    if (pathname === '/revoke') {
      revoked.push(new URLSearchParams(request.body))
      void behaviour.afterRevocation().then(() => send(response, { body: '' }))
      return
    }
    send(response, { status: 404, body: {} })
  })

  return {
    origin: api.origin,
    url: `${api.origin}/mcp`,
    seen: api.seen,
    exchanges,
    revoked,
    /** Every token issued so far. */
    given,
    /** Sets the deviations from now on. */
    behave: (changes: Partial<Behaviour> = {}): void => {
      behaviour = { ...usual(), ...changes }
    },
    /** Consents at once and returns the redirect URL. `changes` overrides parameters of the request; undefined removes one. */
    agree: (href: string, changes: Record<string, string | undefined> = {}): string => {
      const asked = new URL(href).searchParams
      const code = `code-${random()}`
      codes.add(code)
      const said = { code, state: asked.get('state') ?? '', iss: api.origin, ...changes }
      const back = new URL(asked.get('redirect_uri') ?? '')
      for (const [name, value] of Object.entries(said)) if (value !== undefined) back.searchParams.append(name, value)
      return back.href
    },
    renewals: (): number => exchanges.filter(({ form }) => form.get('grant_type') === 'refresh_token').length,
    /** Rejects all access tokens issued so far. */
    endAccess: (): void => access.clear(),
    close: api.close,
  }
}
export type OAuthFake = Awaited<ReturnType<typeof startOAuthFake>>
