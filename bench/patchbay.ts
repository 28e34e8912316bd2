/** Starts Patchbay as its users do, from the built program, and sets it up through its management API only. */
import { z } from 'zod'
import type { Bench } from './bench.ts'
import type { Checkout } from './checkouts.ts'
import { type Child, findFreePort, type StartOptions } from './process.ts'
import type { BenchTool } from './tools.ts'
import { openConnection } from './wire.ts'

const READY_MS = 120_000
const POLL_MS = 2
export const EMAIL = 'bench@example.test'
const PASSWORD = 'only for a benchmark on loopback'

export type Patchbay = {
  child: Child
  port: number
  /** Time from the start of the process to the first 200 from `/readyz`. */
  readyMs: number
}
/**
 * Sends JSON or a form. Returns the JSON of the response, or undefined for an empty one. Throws unless the status is 2xx.
 */
export type Send = (method: string, path: string, body?: unknown) => Promise<unknown>
export type HostedServer = {
  uuid: string
  path: string
  toolkitId: string
  /** By tool name. */
  instances: ReadonlyMap<string, { id: string; toolId: string }>
}

const WithId = z.object({ id: z.string() })
const WithCsrfToken = z.object({ csrfToken: z.string() })
const WithToken = z.object({ token: z.string() })

const waitUntilReady = async (child: Child, port: number): Promise<number> => {
  const from = performance.now()
  const request = Buffer.from(`GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)
  for (;;) {
    try {
      const connection = await openConnection(port)
      const { status } = await connection.request(request)
      connection.close()
      if (status === 200) return performance.now() - from
    } catch {
      // Not listening yet.
    }
    if (child.exitCode() !== undefined) throw new Error('Patchbay exited during startup')
    if (performance.now() - from > READY_MS) throw new Error(`Patchbay is not ready after ${READY_MS} ms`)
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

/** Starts a checkout's built program with a database in `directory`. `settings` override the defaults. */
export const startPatchbay = async (
  { rig, options }: Bench,
  { command, env }: Checkout,
  directory: string,
  settings: Record<string, string> = {},
  side: StartOptions['side'] = 'server',
): Promise<Patchbay> => {
  const port = await findFreePort()
  const child = rig.start({
    name: 'patchbay',
    side,
    args: [...command.slice(0, -1), ...options.nodeFlags, ...command.slice(-1), 'serve'],
    // Not the checkout's folder, whose `.env` file would be read.
    cwd: directory,
    env: {
      ...env,
      PATCHBAY_PORT: String(port),
      DATABASE_URL: `file:${directory}/patchbay.db`,
      PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
      ...settings,
    },
  })
  return { child, port, readyMs: await waitUntilReady(child, port) }
}

const createSend =
  (port: number, headers: Record<string, string>) =>
  async (method: string, path: string, body?: unknown): Promise<{ json: unknown; cookie: string }> => {
    const isJson = body !== undefined && !(body instanceof FormData)
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { ...headers, ...(isJson && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status} ${text.slice(0, 500)}`)
    const cookies = response.headers.getSetCookie().map(cookie => cookie.split(';')[0] ?? '')
    return { json: text === '' ? undefined : JSON.parse(text), cookie: cookies.join('; ') }
  }

/** Returns a function that sends requests with a personal access token, which works also after a restart. */
export const sendWith = (port: number, token: string): Send => {
  const send = createSend(port, { authorization: `Bearer ${token}` })
  return async (method, path, body) => (await send(method, path, body)).json
}

/** Signs up, creates a personal access token, and returns a function that sends requests with it. */
export const signUp = async (port: number, email: string = EMAIL): Promise<Send> => {
  const { cookie } = await createSend(port, {})('POST', '/signup', { email, password: PASSWORD })
  const session = await createSend(port, { cookie })('GET', '/session')
  const headers = { cookie: session.cookie || cookie, 'x-csrf-token': WithCsrfToken.parse(session.json).csrfToken }
  const made = await createSend(port, headers)('POST', '/tokens', { name: 'bench' })
  return sendWith(port, WithToken.parse(made.json).token)
}

/** Signs in as the same user and returns the cookies of the session. */
export const signInByApi = async (port: number): Promise<{ name: string; value: string }[]> => {
  const { cookie } = await createSend(port, {})('POST', '/session', { email: EMAIL, password: PASSWORD })
  return cookie.split('; ').map(pair => {
    const [name = '', ...value] = pair.split('=')
    return { name, value: value.join('=') }
  })
}

/** Creates a personal access token with these scopes. */
export const createToken = async (send: Send, scopes: readonly string[]): Promise<string> =>
  WithToken.parse(await send('POST', '/tokens', { name: 'bench', scopes })).token

const toParameters = ({ properties }: BenchTool) =>
  Object.fromEntries(Object.entries(properties).map(([name, { description }]) => [name, { description }]))

/** Returns the instance whose name is that of its tool. */
export const instanceOf = (
  { instances }: Pick<HostedServer, 'instances'>,
  name: string,
): { id: string; toolId: string } => {
  const instance = instances.get(name)
  if (instance === undefined) throw new Error(`no instance ${name}`)
  return instance
}

/**
 * Creates a toolkit of these tools for the API at `apiUrl`, and a public server with an instance of each tool. By
 * default results have no token budget, because the floor has none either.
 */
export const createHostedServer = async (
  send: Send,
  apiUrl: string,
  tools: readonly BenchTool[],
  maxResponseTokens = 0,
): Promise<HostedServer> => {
  const toolkit = WithId.parse(await send('POST', '/toolkits', { title: 'Benchmark' }))
  const server = z
    .object({ id: z.string().optional(), uuid: z.string().optional(), url: z.string() })
    .parse(await send('POST', '/servers', { name: 'Benchmark', access: 'public', maxResponseTokens }))
  const uuid = server.uuid ?? server.id ?? ''
  await send('PUT', `/servers/${uuid}/toolkits/${toolkit.id}`)
  const instances = new Map<string, { id: string; toolId: string }>()
  for (const tool of tools) {
    const { name, description, template } = tool
    const made = WithId.parse(
      await send('POST', `/toolkits/${toolkit.id}/tools`, {
        name,
        description,
        method: 'GET',
        url: `${apiUrl}${template}`,
        parameters: toParameters(tool),
      }),
    )
    const instance = await send('POST', `/servers/${uuid}/instances`, { toolId: made.id, name })
    instances.set(name, { id: WithId.parse(instance).id, toolId: made.id })
  }
  return { uuid, path: `/s/${uuid}`, toolkitId: toolkit.id, instances }
}
