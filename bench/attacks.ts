/** Attacks with which one tenant can slow the others. Each creates its own users, servers and tools through the API. */
import { z } from 'zod'
import { encodePost, STATELESS } from './mcp.ts'
import { type Send, signUp } from './patchbay.ts'
import { attachUpstream, createServer } from './upstreams.ts'
import { openConnection } from './wire.ts'

export type AttackTarget = {
  port: number
  /** An API of its own, so that its work does not slow the neighbour's. */
  apiUrl: string
  /** The API of the neighbour. */
  sharedApiUrl: string
  /** URL of an MCP server that answers each call with endless notifications. */
  floodUrl: string
}
/** Sends one call, and resolves when its response has arrived, whatever it is. */
export type Step = () => Promise<void>
export type Attack = {
  title: string
  /** Prepares the attack. Each returned step is repeated by one client until the attack ends. */
  prepare: (target: AttackTarget) => Promise<Step[]>
}

const WithId = z.object({ id: z.string() })

type ToolCall = { name: string; arguments: Record<string, unknown> }

const repeat = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** Creates a step that calls a tool anonymously, each time over the same connection. */
const callerOf = (port: number, uuid: string, params: ToolCall): Step => {
  let connection: ReturnType<typeof openConnection> | undefined
  const request = encodePost({ port, path: `/s/${uuid}` }, STATELESS, { id: 1, method: 'tools/call', params })
  return async () => {
    try {
      connection ??= openConnection(port)
      await (await connection).request(request)
    } catch {
      connection = undefined
    }
  }
}

type Hosting = { tool: object; server?: object; organizationId?: string; prepare?: (uuid: string) => Promise<void> }

/** Creates a public server with one tool, `attack`, and returns its uuid. */
const hostTool = async (send: Send, { tool, server = {}, organizationId, prepare }: Hosting): Promise<string> => {
  const owned = organizationId === undefined ? {} : { organizationId }
  const toolkit = WithId.parse(await send('POST', '/toolkits', { title: 'Attack', ...owned }))
  const about = { name: 'Attack', access: 'public', maxResponseTokens: 0, ...owned, ...server }
  const { id: uuid } = WithId.parse(await send('POST', '/servers', about))
  await prepare?.(uuid)
  await send('PUT', `/servers/${uuid}/toolkits/${toolkit.id}`)
  const made = WithId.parse(await send('POST', `/toolkits/${toolkit.id}/tools`, { name: 'attack', ...tool }))
  await send('POST', `/servers/${uuid}/instances`, { toolId: made.id, name: 'attack' })
  return uuid
}

const CALL: ToolCall = { name: 'attack', arguments: {} }

const BRANCHES = 21
/** Each step tries the next one twice, so there are 2^21 attempts, none of which matches. */
const BRANCHING = {
  type: 'object',
  $ref: '#/$defs/a0',
  $defs: Object.fromEntries(
    repeat(BRANCHES + 1, step => {
      const next = { $ref: `#/$defs/a${step + 1}` }
      return [`a${step}`, step === BRANCHES ? false : { anyOf: [next, next] }]
    }),
  ),
}

const schemas: Attack = {
  title: 'a schema that branches without end, 5 clients',
  prepare: async ({ port, apiUrl }) => {
    const send = await signUp(port, 'schemas@attack.test')
    const tool = { method: 'GET', url: `${apiUrl}/users/1`, inputSchema: BRANCHING }
    const uuid = await hostTool(send, { tool })
    return repeat(5, () => callerOf(port, uuid, CALL))
  },
}

const SECRETS = 60
const SECRET_CHARACTERS = 580

const masking: Attack = {
  title: 'results of 5 MB and 60 secrets to mask in them, 2 clients',
  prepare: async ({ port, apiUrl }) => {
    const send = await signUp(port, 'masking@attack.test')
    const prepare = async (uuid: string): Promise<void> => {
      for (let at = 0; at < SECRETS; at++) {
        const value = `+/ "ä${at}"`.repeat(SECRET_CHARACTERS).slice(0, SECRET_CHARACTERS)
        await send('PUT', `/servers/${uuid}/globals/secret_${at}`, { value, secret: true })
      }
    }
    const uuid = await hostTool(send, { tool: { method: 'GET', url: `${apiUrl}/large?mb=5` }, prepare })
    return repeat(2, () => callerOf(port, uuid, CALL))
  },
}

const hanging: Attack = {
  title: 'calls of a hanging tool at the same origin, 200 clients',
  prepare: async ({ port, sharedApiUrl }) => {
    const send = await signUp(port, 'hanging@attack.test')
    const uuid = await hostTool(send, { tool: { method: 'GET', url: `${sharedApiUrl}/slow?ms=10000` } })
    return repeat(200, () => callerOf(port, uuid, CALL))
  },
}

const transforms: Attack = {
  title: 'endless transforms, 40 servers of one organization',
  prepare: async ({ port, apiUrl }) => {
    const send = await signUp(port, 'transforms@attack.test')
    const expression = '($f := function($n) { $f($n + 1) }; $f(0))'
    const response = { transform: { language: 'jsonata', expression } }
    const tool = { method: 'GET', url: `${apiUrl}/users/1`, response }
    const uuids: string[] = []
    for (let at = 0; at < 40; at++) uuids.push(await hostTool(send, { tool }))
    return uuids.map(uuid => callerOf(port, uuid, CALL))
  },
}

const MAX_ORGANIZATIONS = 20

const searches: Attack = {
  title: 'searches in results of 2 MB, 20 organizations of one user',
  prepare: async ({ port, apiUrl }) => {
    const send = await signUp(port, 'searches@attack.test')
    const tool = { method: 'GET', url: `${apiUrl}/large?mb=2` }
    const params = { name: 'proxy_explore', arguments: { tool: 'attack', arguments: {} } }
    const steps: Step[] = []
    // Signing up created the first organization.
    for (let at = 1; at < MAX_ORGANIZATIONS; at++) {
      const organizationId = WithId.parse(await send('POST', '/organizations', { name: `Attack ${at}` })).id
      const uuid = await hostTool(send, { tool, organizationId, server: { maxResponseTokens: 1_000 } })
      steps.push(callerOf(port, uuid, params))
    }
    return steps
  },
}

const results: Attack = {
  title: 'results of 10 MB, 16 clients',
  prepare: async ({ port, apiUrl }) => {
    const send = await signUp(port, 'results@attack.test')
    const tool = { method: 'GET', url: `${apiUrl}/large?mb=9` }
    const uuid = await hostTool(send, { tool, server: { maxResponseTokens: 1_000 } })
    return repeat(16, () => callerOf(port, uuid, CALL))
  },
}

const notifications: Attack = {
  title: 'an MCP server that floods notifications',
  prepare: async ({ port, floodUrl }) => {
    const send = await signUp(port, 'notifications@attack.test')
    const uuid = await createServer(send)
    await attachUpstream(send, uuid, { name: 'up', transport: 'http', url: floodUrl })
    return [callerOf(port, uuid, { name: 'up_get_user', arguments: { id: '42' } })]
  },
}

export const ATTACKS: readonly Attack[] = [schemas, masking, hanging, transforms, searches, results, notifications]
