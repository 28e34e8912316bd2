import { randomBytes, randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import type { AccessPolicy, BlocksResult, Caller, CompiledServer, CompiledTool } from '../../src/execution/index.ts'
import { failure, success } from '../../src/kernel/index.ts'
import { type Authorize, createMcpRegistry, mcpRoutes } from '../../src/mcp/index.ts'
import { createAddressPolicy, createReverseProxy } from '../../src/platform/net/index.ts'
import { portOf } from './wire.ts'

export const OWNER_TOKEN = 'Bearer pbk_owner'
export const FRIEND_TOKEN = 'Bearer pbk_friend'

const USERS: ReadonlyMap<string, string> = new Map([
  [OWNER_TOKEN, 'owner'],
  [FRIEND_TOKEN, 'friend'],
])

/** The access check as the product makes it, over two fixed tokens. */
export const authorize: Authorize = (policy, authorization) => {
  const userId = USERS.get(authorization ?? '')
  const caller: Caller = userId === undefined ? undefined : { userId, tokenId: `token-of-${userId}` }
  if (policy.tier === 'public') return success(caller)
  if (caller === undefined) return failure('unauthenticated')
  return caller.userId === policy.ownerId || policy.allowedUserIds.has(caller.userId)
    ? success(caller)
    : failure('forbidden')
}

export const text = (value: string): BlocksResult => ({ content: [{ type: 'text', text: value }] })

export type ToolSpec = Partial<Omit<CompiledTool, 'name'>>

export const makeTool = (name: string, spec: ToolSpec = {}): CompiledTool => ({
  name,
  title: undefined,
  description: `The tool ${name}`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  outputSchema: undefined,
  annotations: { readOnlyHint: true },
  isReadOnly: false,
  call: async args => text(JSON.stringify(args)),
  ...spec,
})

export type ServerSpec = {
  id?: string
  name?: string
  description?: string
  tier?: AccessPolicy['tier']
  allowedUserIds?: readonly string[]
  tools?: readonly CompiledTool[]
}

export const makeServer = ({ id = randomUUID(), name = 'Test', tier = 'public', ...spec }: ServerSpec = {}) =>
  ({
    id,
    name,
    description: spec.description,
    access: {
      serverId: id,
      tier,
      organizationId: 'organization',
      ownerId: 'owner',
      allowedUserIds: new Set(spec.allowedUserIds ?? []),
    },
    tools: spec.tools ?? [makeTool('echo')],
  }) satisfies CompiledServer

export type Fault = { details: object; message: string }

export type TestAppOptions = {
  servers?: readonly CompiledServer[]
  compile?: (serverId: string) => Promise<CompiledServer | undefined>
  authorize?: Authorize
  allowedOrigins?: readonly string[]
  listensOnLoopback?: boolean
  now?: () => number
  limits?: Partial<Parameters<typeof mcpRoutes>[0]['limits']>
  idleMs?: number
  maxMounted?: number
  signingKeys?: Parameters<typeof mcpRoutes>[0]['signingKeys']
  port?: number
}

/** The routes on a real server of this machine, over servers made by hand. */
export const startTestApp = async (options: TestAppOptions = {}) => {
  const servers = new Map((options.servers ?? [makeServer()]).map(server => [server.id, server]))
  const faults: Fault[] = []
  const logger = {
    error: (details: object, message: string) => void faults.push({ details, message }),
    warn: (details: object, message: string) => void faults.push({ details, message }),
  }
  const now = options.now ?? Date.now
  const registry = createMcpRegistry({
    compile: options.compile ?? (async id => servers.get(id)),
    serverInfo: { name: 'patchbay', version: '0.1.0' },
    now,
    idleMs: options.idleMs ?? 60_000,
    maxMounted: options.maxMounted ?? 1_000,
    logger,
  })
  const app = Fastify({ forceCloseConnections: true })
  await app.register(
    mcpRoutes({
      registry,
      authorize: options.authorize ?? authorize,
      proxy: createReverseProxy({ policy: createAddressPolicy({ allow: [] }), connectTimeoutMs: 1_000 }),
      trustProxy: [],
      baseUrl: 'http://localhost:8080',
      allowedOrigins: options.allowedOrigins ?? [],
      listensOnLoopback: options.listensOnLoopback ?? true,
      limits: {
        maxRequestBytes: 4 * 1_024 * 1_024,
        maxJsonDepth: 64,
        maxSessionsPerServer: 10_000,
        maxSessionIdleMs: 24 * 60 * 60 * 1_000,
        ...options.limits,
      },
      signingKeys: options.signingKeys ?? [{ id: 'k1', key: randomBytes(32) }],
      now,
      logger,
    }),
  )
  await app.listen({ host: '127.0.0.1', port: options.port ?? 0 })
  const port = portOf(app.server)
  const origin = `http://localhost:${port}`
  return {
    app,
    registry,
    servers,
    faults,
    port,
    origin,
    urlOf: (serverId: string) => `${origin}/s/${serverId}`,
    close: async () => {
      registry.close()
      await app.close()
    },
  }
}
export type TestApp = Awaited<ReturnType<typeof startTestApp>>

export { INITIALIZE } from './messages.ts'
