import type { Client } from '@modelcontextprotocol/client'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { connect } from '../servers/mcp.ts'
import { during } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { textOf } from './clients.ts'
import { commandOf, runServer } from './support.ts'

/** Paths of the upstreams that are down, each in its own way. */
const DOWN_PATHS = ['hangs', 'html', 'fails', 'loops', 'cuts']
const UPSTREAMS = 50
const DOWN = 20

const Listed = z.object({ items: z.array(z.object({ name: z.string(), state: z.object({ kind: z.string() }) })) })

const server = during(async () => {
  const { port, stop } = await runServer(commandOf('hostile-http'))
  return { port, close: stop }
})
const { operator, attach, makeServer } = runAttached()
const made = during(async () => {
  const { serverId, url } = await makeServer()
  const pathOf = (index: number): string => (index < DOWN ? (DOWN_PATHS[index % DOWN_PATHS.length] ?? '') : 'serve')
  for (let index = 0; index < UPSTREAMS; index++) {
    const name = `${index < DOWN ? 'down' : 'up'}${index}`
    await attach(serverId, { name, transport: 'http', url: `http://127.0.0.1:${server.port}/${pathOf(index)}` })
  }
  return { serverId, url }
})

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
  const client = await connect(made.url)
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
    const { body } = await operator.expectOk('GET', `/servers/${made.serverId}/upstreams?limit=200`)
    const states = Listed.parse(body).items.map(({ name, state }) => `${name.replace(/\d+/, '')} ${state.kind}`)
    const counts = Object.groupBy(states, state => state)
    expect(counts['up connected']).toHaveLength(UPSTREAMS - DOWN)
    expect(counts['down connecting']).toHaveLength(DOWN / DOWN_PATHS.length)
    expect(counts['down failed']).toHaveLength(DOWN - DOWN / DOWN_PATHS.length)
  }, 10_000)
  await client.close()
})
