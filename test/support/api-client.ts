import { z } from 'zod'
import { SETUP_TOKEN } from './setup-token.ts'

/** A response of the management API. `body` is undefined if the response has none. */
export type ApiResponse = { status: number; headers: Headers; body: unknown }

export const WithId = z.looseObject({ id: z.string() })
export type WithId = z.infer<typeof WithId>

/** Returns a client of the management API that authenticates with a token. */
export const createApiClient = (origin: string, token?: string) => {
  const send = async (method: string, path: string, body?: unknown): Promise<ApiResponse> => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  /** Like `send`, but throws if the request fails. */
  const expectOk = async (method: string, path: string, body?: unknown): Promise<ApiResponse> => {
    const response = await send(method, path, body)
    if (response.status >= 300)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    return response
  }

  const create = async (path: string, body: unknown): Promise<WithId> =>
    WithId.parse((await expectOk('POST', path, body)).body)

  return { origin, token, send, expectOk, create }
}
export type ApiClient = ReturnType<typeof createApiClient>

const PASSWORD = 'correct horse battery staple'
let accounts = 0

/** Creates an account and returns a client whose token has all scopes. */
export const signUp = async (
  origin: string,
  email = `builder${++accounts}@example.com`,
): Promise<ApiClient & { email: string; userId: string }> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${origin}/api/v1/signup`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email, password: PASSWORD, setupToken: SETUP_TOKEN }),
  })
  if (response.status !== 201) throw new Error(`sign-up: ${response.status} ${await response.text()}`)
  const user = WithId.parse(await response.json())
  const cookie = response.headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
  const session = await fetch(`${origin}/api/v1/session`, { headers: { cookie } })
  if (!session.ok) throw new Error(`session of ${email}: ${session.status} ${await session.text()}`)
  const { csrfToken } = z.object({ csrfToken: z.string() }).parse(await session.json())
  const requestToken = (expiresInDays?: number) =>
    fetch(`${origin}/api/v1/tokens`, {
      method: 'POST',
      headers: { ...headers, cookie, 'x-csrf-token': csrfToken },
      body: JSON.stringify({ name: 'test', expiresInDays }),
    })
  const requested = await requestToken()
  // With mail, a token is valid for at most a day until the email is confirmed.
  const made = requested.status === 409 ? await requestToken(1) : requested
  const { token } = z.object({ token: z.string() }).parse(await made.json())
  return { ...createApiClient(origin, token), email, userId: user.id }
}

/** Creates a server with an instance of each tool, all in one new toolkit. */
export const makeServer = async (
  api: ApiClient,
  tools: readonly Record<string, unknown>[],
  options: {
    /** Needed if the user belongs to several. */
    organizationId?: string
    server?: Record<string, unknown>
    bindings?: Record<string, Record<string, unknown>>
  } = {},
) => {
  const { organizationId } = options
  const toolkit = await api.create('/toolkits', { title: 'Toolkit', organizationId })
  // Sets no budget, because a budget would add the tools that continue from a cut result.
  const plain = { name: 'Server', access: 'public', maxResponseTokens: 0, organizationId }
  const server = await api.create('/servers', { ...plain, ...options.server })
  await api.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
  const toolIds: Record<string, string> = {}
  const instanceIds: Record<string, string> = {}
  for (const definition of tools) {
    const name = z.string().parse(definition.name)
    const tool = await api.create(`/toolkits/${toolkit.id}/tools`, definition)
    toolIds[name] = tool.id
    const bindings = options.bindings?.[name] ?? {}
    instanceIds[name] = (await api.create(`/servers/${server.id}/instances`, { toolId: tool.id, name, bindings })).id
  }
  return { serverId: server.id, toolkitId: toolkit.id, toolIds, instanceIds, url: `${api.origin}/s/${server.id}` }
}
