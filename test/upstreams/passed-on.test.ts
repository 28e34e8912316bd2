import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { runPatchbay } from '../servers/patchbay.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { databaseKinds } from '../support/databases.ts'
import { everythingCommand, startEverything } from './support.ts'

type AnyClient = { client: Client; changes: string[][] }

describe.each(databaseKinds)('tools of upstreams on $kind', kind => {
  const patchbay = runPatchbay(kind, { PATCHBAY_ALLOW_STDIO: 'true' })
  let operator: ApiClient & { userId: string }
  beforeAll(async () => {
    operator = await signUp(patchbay.origin, 'operator@example.com')
  })

  const makeServer = async () => (await operator.create('/servers', { name: 'Attached', access: 'public' })).id
  const attach = (serverId: string, body: object) => operator.create(`/servers/${serverId}/upstreams`, body)
  const connect = async (serverId: string): Promise<AnyClient> => {
    const changes: string[][] = []
    const client = new Client(
      { name: 'official', version: '1.0.0' },
      {
        listChanged: {
          tools: { onChanged: (_error, tools) => changes.push((tools ?? []).map(({ name }) => name)), debounceMs: 0 },
        },
      },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(`${patchbay.origin}/s/${serverId}`)))
    onTestFinished(() => client.close())
    return { client, changes }
  }
  const textOf = (result: Awaited<ReturnType<Client['callTool']>>): string => {
    const [first] = result.content
    return first?.type === 'text' ? first.text : ''
  }

  it('of a command are listed with its prefix and called, and in the history', async () => {
    const serverId = await makeServer()
    await attach(serverId, { name: 'every', ...everythingCommand() })
    const { client } = await connect(serverId)
    await vi.waitFor(async () => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('every_echo')
    }, 10_000)
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'every_echo')?.inputSchema).toMatchObject({
      properties: { message: { type: 'string' } },
    })
    const result = await client.callTool({ name: 'every_echo', arguments: { message: 'hello' } })
    expect(textOf(result)).toBe('Echo: hello')
    const image = await client.callTool({ name: 'every_get-tiny-image', arguments: {} })
    expect(image.content.map(({ type }) => type)).toContain('image')
    const { body } = await operator.expectOk('GET', `/servers/${serverId}/executions?tool=every_echo`)
    expect(body).toMatchObject({
      items: [{ tool: 'every_echo', outcome: 'ok', request: { method: 'tools/call', url: 'mcp:every/echo' } }],
    })
  })

  it('over HTTP pass its allow and deny patterns', async () => {
    const port = await startEverything('streamableHttp')
    const serverId = await makeServer()
    await attach(serverId, {
      name: 'far',
      transport: 'http',
      url: `http://127.0.0.1:${port}/mcp`,
      allow: ['e*', 'get-sum'],
      deny: ['*sum'],
    })
    const { client } = await connect(serverId)
    await vi.waitFor(async () => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['far_echo'])
    }, 10_000)
    expect(textOf(await client.callTool({ name: 'far_echo', arguments: { message: 'hi' } }))).toBe('Echo: hi')
  })
})
