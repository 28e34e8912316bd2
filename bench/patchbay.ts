/** Patchbay as its users start it and set it up: the built program, and nothing but its management API. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { commandOf, environmentOf } from '../bin/launcher/tasks.mjs'
import type { Options } from './options.ts'
import { type Child, findFreePort, type Rig } from './process.ts'
import type { BenchTool } from './tools.ts'
import { openConnection } from './wire.ts'

const READY_MS = 120_000
const POLL_MS = 2
export const EMAIL = 'bench@example.test'
export const PASSWORD = 'only for a benchmark on loopback'

export type Patchbay = {
  child: Child
  port: number
  /** From the start of the process to a 200 of /readyz. */
  readyMs: number
}
/** Throws unless the answer is 2xx; gives its JSON, undefined when there is none. */
export type Send = (method: string, path: string, body?: unknown) => Promise<unknown>
export type HostedServer = {
  uuid: string
  path: string
  /** By tool name. */
  instances: ReadonlyMap<string, { id: string; toolId: string }>
}

const WithId = z.object({ id: z.string() })
const WithCsrfToken = z.object({ csrfToken: z.string() })
const WithToken = z.object({ token: z.string() })

/** What the launcher would run: the program, behind its flags and ours. */
const programArgs = ({ program, nodeFlags }: Options): string[] => {
  const flags = commandOf('command', fileURLToPath(new URL('..', import.meta.url)))
  const own = flags.pop() ?? ''
  const built = program === undefined ? own : resolve(program)
  if (existsSync(built)) return [...flags, ...nodeFlags, built]
  throw new Error(`${built} is not built yet: npm run bench builds it first`)
}

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
      // Nobody listens yet.
    }
    if (child.exitCode() !== undefined) throw new Error('Patchbay ended while it was started')
    if (performance.now() - from > READY_MS) throw new Error(`Patchbay is not ready after ${READY_MS} ms`)
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

/** Starts the built program on a database in `directory`, with every setting that is not named at its default. */
export const startPatchbay = async (
  rig: Rig,
  options: Options,
  directory: string,
  settings: Record<string, string> = {},
): Promise<Patchbay> => {
  const port = await findFreePort()
  const child = rig.start({
    name: 'patchbay',
    side: 'server',
    args: [...programArgs(options), 'serve'],
    // Away from the checkout, whose .env must not count.
    cwd: directory,
    env: {
      ...environmentOf('command'),
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
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status} ${text.slice(0, 500)}`)
    const cookies = response.headers.getSetCookie().map(cookie => cookie.split(';')[0] ?? '')
    return { json: text === '' ? undefined : JSON.parse(text), cookie: cookies.join('; ') }
  }

/** Signs up, makes a personal access token, and gives what sends requests with it. */
export const signUp = async (port: number): Promise<Send> => {
  const { cookie } = await createSend(port, {})('POST', '/signup', { email: EMAIL, password: PASSWORD })
  const session = await createSend(port, { cookie })('GET', '/session')
  const headers = { cookie: session.cookie || cookie, 'x-csrf-token': WithCsrfToken.parse(session.json).csrfToken }
  const made = await createSend(port, headers)('POST', '/tokens', { name: 'bench' })
  const send = createSend(port, { authorization: `Bearer ${WithToken.parse(made.json).token}` })
  return async (method, path, body) => (await send(method, path, body)).json
}

/** A personal access token of these scopes. */
export const createToken = async (send: Send, scopes: readonly string[]): Promise<string> =>
  WithToken.parse(await send('POST', '/tokens', { name: 'bench', scopes })).token

const toParameters = ({ properties }: BenchTool) =>
  Object.fromEntries(Object.entries(properties).map(([name, { description }]) => [name, { description }]))

/** The instance of a tool that was put to work under its own name. */
export const instanceOf = ({ instances }: HostedServer, name: string): { id: string; toolId: string } => {
  const instance = instances.get(name)
  if (instance === undefined) throw new Error(`no instance ${name}`)
  return instance
}

/**
 * Makes a toolkit of these tools against the API at `apiUrl`, and a public server that puts each of them to work. Its
 * answers are sent whole unless a budget is given: what it is compared with has none.
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
  return { uuid, path: `/s/${uuid}`, instances }
}
