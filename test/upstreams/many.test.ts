import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { textOf } from './official-clients.ts'
import { commandOf, runServer } from './support.ts'

/** URLs of the upstreams that are down, each in its own way. */
const DOWN_PATHS = ['hangs', 'html', 'fails', 'loops', 'cuts']
const UPSTREAMS = 50
const DOWN = 20

const Listed = z.object({ items: z.array(z.object({ name: z.string(), state: z.object({ kind: z.string() }) })) })

let server: Awaited<ReturnType<typeof runServer>>
let app: TestApp
let operator: ApiClient
let serverId = ''
beforeAll(async () => {
  server = await runServer(commandOf('hostile-http'))
  app = await startTestApp()
  operator = await signUp(app.origin, 'operator@example.com')
  serverId = (await operator.create('/servers', { name: 'Many', access: 'public' })).id
  const pathOf = (index: number): string => (index < DOWN ? (DOWN_PATHS[index % DOWN_PATHS.length] ?? '') : 'serve')
  for (let index = 0; index < UPSTREAMS; index++) {
    await operator.create(`/servers/${serverId}/upstreams`, {
      name: `${index < DOWN ? 'down' : 'up'}${index}`,
      transport: 'http',
      url: `http://127.0.0.1:${server.port}/${pathOf(index)}`,
    })
  }
})
afterAll(async () => {
  await app.close()
  await server.stop()
})

const connect = async (): Promise<Client> => {
  const client = new Client({ name: 'official', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${app.origin}/s/${serverId}`)))
  return client
}
const Tools = z.looseObject({ tools: z.array(z.object({ name: z.string() })), nextCursor: z.string().optional() })
const listNames = async (client: Client): Promise<string[]> => {
  const { tools, nextCursor } = await client.request({ method: 'tools/list' }, Tools)
  const names = tools.map(({ name }) => name)
  for (let cursor = nextCursor; cursor !== undefined; ) {
    const page = await client.request({ method: 'tools/list', params: { cursor } }, Tools)
    names.push(...page.tools.map(({ name }) => name))
    cursor = page.nextCursor
  }
  return names
}

it('with twenty of fifty upstreams hanging, the first client lists and calls the other thirty', async () => {
  const client = await connect()
  await vi.waitFor(async () => {
    const prefixes = new Set((await listNames(client)).map(name => name.split('_')[0]))
    expect([...prefixes].filter(prefix => prefix?.startsWith('up'))).toHaveLength(UPSTREAMS - DOWN)
    expect([...prefixes].filter(prefix => prefix?.startsWith('down'))).toEqual([])
  }, 10_000)
  const calls = Array.from({ length: UPSTREAMS - DOWN }, (_, index) => `up${DOWN + index}`).map(name =>
    client.callTool({ name: `${name}_echo`, arguments: { text: name } }),
  )
  expect((await Promise.all(calls)).map(textOf)).toEqual(
    Array.from({ length: UPSTREAMS - DOWN }, (_, index) => `up${DOWN + index}`),
  )
  // The hanging ones are still connecting, and nobody waited for them. The others are retried.
  await vi.waitFor(async () => {
    const { body } = await operator.expectOk('GET', `/servers/${serverId}/upstreams?limit=200`)
    const states = Listed.parse(body).items.map(({ name, state }) => `${name.replace(/\d+/, '')} ${state.kind}`)
    const counts = Object.groupBy(states, state => state)
    expect(counts['up connected']).toHaveLength(UPSTREAMS - DOWN)
    expect(counts['down connecting']).toHaveLength(DOWN / DOWN_PATHS.length)
    expect(counts['down failed']).toHaveLength(DOWN - DOWN / DOWN_PATHS.length)
  }, 10_000)
  await client.close()
})
