import { z } from 'zod'

/** What the management API answered; `body` is undefined where there is none. */
export type ApiResponse = { status: number; headers: Headers; body: unknown }

export const WithId = z.looseObject({ id: z.string() })
export type WithId = z.infer<typeof WithId>

/** Speaks to the management API with a token, as a builder's script would. */
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

  /** Like `send`, for what must succeed: throws what the API said otherwise. */
  const expectOk = async (method: string, path: string, body?: unknown): Promise<ApiResponse> => {
    const answer = await send(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }

  const create = async (path: string, body: unknown): Promise<WithId> =>
    WithId.parse((await expectOk('POST', path, body)).body)

  return { origin, token, send, expectOk, create }
}
export type ApiClient = ReturnType<typeof createApiClient>

const PASSWORD = 'correct horse battery staple'
let accounts = 0

/** A new account with a token of all scopes. */
export const signUp = async (
  origin: string,
  email = `builder${++accounts}@example.com`,
): Promise<ApiClient & { email: string; userId: string }> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${origin}/api/v1/signup`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  if (response.status !== 201) throw new Error(`sign-up: ${response.status} ${await response.text()}`)
  const user = WithId.parse(await response.json())
  const cookie = response.headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
  const session = await fetch(`${origin}/api/v1/session`, { headers: { cookie } })
  const { csrfToken } = z.object({ csrfToken: z.string() }).parse(await session.json())
  const made = await fetch(`${origin}/api/v1/tokens`, {
    method: 'POST',
    headers: { ...headers, cookie, 'x-csrf-token': csrfToken },
    body: JSON.stringify({ name: 'test' }),
  })
  const { token } = z.object({ token: z.string() }).parse(await made.json())
  return { ...createApiClient(origin, token), email, userId: user.id }
}

/** A server with one instance for each tool, all of one new toolkit. */
export const makeServer = async (
  api: ApiClient,
  tools: readonly Record<string, unknown>[],
  options: { server?: Record<string, unknown>; bindings?: Record<string, Record<string, unknown>> } = {},
) => {
  const toolkit = await api.create('/toolkits', { title: 'Toolkit' })
  // Without what goes on from cut answers: tests that are about it say so.
  const plain = { name: 'Server', access: 'public', maxResponseTokens: 0 }
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
