import { randomBytes, randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { createForwardedFor } from '../../src/lib/http/forwarded-for.ts'
import { MAX_REQUEST_BYTES } from '../../src/lib/kernel/limits.ts'
import { failure, success } from '../../src/lib/kernel/result.ts'
import { createAddressPolicy } from '../../src/lib/outbound/address-policy.ts'
import { operatorLookup } from '../../src/lib/outbound/name-resolver.ts'
import type { Authorize } from '../../src/mcp/admission.ts'
import { createMcpRegistry } from '../../src/mcp/registry/registry.ts'
import { mcpRoutes } from '../../src/mcp/routes.ts'
import { createPassthrough } from '../../src/passthrough/http/passthrough.ts'
import { createReverseProxy } from '../../src/passthrough/proxy/reverse-proxy.ts'
import type { CompiledServer } from '../../src/runtime/call/compiled-server.ts'
import type { CompiledTool, ToolOutcome } from '../../src/runtime/call/compiled-tool.ts'
import type { BlocksResult } from '../../src/runtime/call/tool-result.ts'
import type { AccessPolicy, Caller } from '../../src/servers/access/access.ts'
import { portOf } from './wire.ts'

export const OWNER_TOKEN = 'Bearer pbk_owner'
export const FRIEND_TOKEN = 'Bearer pbk_friend'

const USERS: ReadonlyMap<string, string> = new Map([
  [OWNER_TOKEN, 'owner'],
  [FRIEND_TOKEN, 'friend'],
])

/** Checks access as the product does, for two fixed tokens. */
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

export type ToolSpec = Partial<Omit<CompiledTool, 'name' | 'call'>> & {
  call?: (...call: Parameters<CompiledTool['call']>) => Promise<ToolOutcome['result']>
}

const echo: NonNullable<ToolSpec['call']> = async args => text(JSON.stringify(args))

export const makeTool = (name: string, { call = echo, ...spec }: ToolSpec = {}): CompiledTool => ({
  name,
  title: undefined,
  description: `The tool ${name}`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  outputSchema: undefined,
  annotations: { readOnlyHint: true },
  isReadOnly: false,
  call: async (...given) => ({ result: await call(...given) }),
  ...spec,
})

export type ServerSpec = {
  id?: string
  name?: string
  description?: string
  tier?: AccessPolicy['tier']
  allowAnyOrigin?: boolean
  allowedUserIds?: readonly string[]
  tools?: readonly CompiledTool[]
}

export const makeServer = ({ id = randomUUID(), name = 'Test', tier = 'public', ...spec }: ServerSpec = {}) =>
  ({
    id,
    name,
    instructions: spec.description,
    allowAnyOrigin: spec.allowAnyOrigin,
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
  baseUrl?: string
  allowedOrigins?: readonly string[]
  listensOnLoopback?: boolean
  now?: () => number
  limits?: Partial<Parameters<typeof mcpRoutes>[0]['limits']>
  idleMs?: number
  maxMounted?: number
  signingKeys?: Parameters<typeof mcpRoutes>[0]['signingKeys']
  port?: number
}

/** Starts the MCP routes on a real local server, with the MCP servers that the test defines. */
export const startTestApp = async (options: TestAppOptions = {}) => {
  const servers = new Map((options.servers ?? [makeServer()]).map(server => [server.id, server]))
  const faults: Fault[] = []
  const logger = {
    error: (details: object, message: string) => void faults.push({ details, message }),
    warn: (details: object, message: string) => void faults.push({ details, message }),
  }
  const now = options.now ?? Date.now
  const baseUrl = options.baseUrl ?? 'http://localhost:8080'
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
      floods: { find: () => undefined },
      createPassthrough: checks =>
        createPassthrough({
          ...checks,
          proxy: createReverseProxy({
            policy: createAddressPolicy({ allow: [] }),
            connectTimeoutMs: 1_000,
            lookup: operatorLookup(),
          }),
          baseUrl,
          maxRequestBytes: MAX_REQUEST_BYTES,
          forwardedFor: createForwardedFor([]),
        }),
      baseUrl,
      allowedOrigins: options.allowedOrigins ?? [],
      listensOnLoopback: options.listensOnLoopback ?? true,
      limits: {
        maxRequestBytes: MAX_REQUEST_BYTES,
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
