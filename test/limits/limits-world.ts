import { z } from 'zod'
import { type ApiClient, makeServer } from '../support/api-client.ts'
import type { Person } from '../support/world.ts'

/** Calls per day of the organization that owns the world, as an input of the API. */
export const DAILY_CALLS = { scope: 'organization', unit: 'calls', period: 'day', amount: 2 }

const CallResponse = z.object({
  result: z.object({ isError: z.boolean().optional(), content: z.array(z.looseObject({ text: z.string() })) }),
})

const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const STATELESS = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}

/** Sends a tools/call of an MCP client and returns the HTTP response. */
export const postCall = (url: string, token: string | undefined, name: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: {
      ...POST_HEADERS,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: {}, ...STATELESS },
    }),
  })

/** Calls a tool as an MCP client does. Returns the error that the model reads, or undefined. */
export const callTool = async (url: string, token: string | undefined, name = 'tool'): Promise<string | undefined> => {
  const response = await postCall(url, token, name)
  const { result } = CallResponse.parse(await response.json())
  return result.isError === true ? result.content[0]?.text : undefined
}

/** Makes a public server of the person's organization with one tool for each definition. */
export const makeLimitedServer = (
  person: Person,
  origin: string,
  tools: readonly Record<string, unknown>[] = [{ name: 'tool' }],
  access = 'organization',
) =>
  makeServer(
    person,
    tools.map(tool => ({ method: 'GET', url: `${origin}/`, ...tool })),
    { server: { access }, organizationId: person.organizationId },
  )

export const limitsOf = ({ organizationId }: Person): string => `/organizations/${organizationId}/limits`

const Uses = z.object({
  uses: z.array(z.object({ target: z.object({ name: z.string() }).nullable(), amount: z.number() })),
})

/** Returns the current uses of a limit, by the name of the target. */
export const usesOf = async (api: ApiClient, path: string): Promise<Record<string, number>> => {
  const { uses } = Uses.parse((await api.expectOk('GET', path)).body)
  return Object.fromEntries(uses.map(({ target, amount }) => [target?.name ?? 'all', amount]))
}
