import { describe, expect, it, vi } from 'vitest'
import { signInToPages, textOf as textOfPage } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { connectClient } from './clients.ts'

type Message = { id?: number; method?: string; params?: { name?: string }; error?: { code: number } }

const FLOOD = 20_000
const repeat = (make: (at: number) => object, length = FLOOD): string =>
  Array.from({ length }, (_, at) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...make(at) })}\n\n`).join('')
const log = (data: unknown) => ({ method: 'notifications/message', params: { level: 'info', data } })

/** What each tool sends before its response. */
const FLOODS: Readonly<Record<string, () => string>> = {
  notifications: () => repeat(at => log(at)),
  'notifications that contain an id': () => repeat(at => log({ id: at })),
  'responses to unknown requests': () => repeat(at => ({ id: 1_000_000 + at, result: {} })),
  requests: () => repeat(at => ({ id: `asked-${at}`, method: 'ping' })),
  'other events': () => ': nothing\n\nevent: other\ndata: 1\n\n'.repeat(FLOOD),
}
const CHANGED = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n\n`

const patchbay = runPatchbay()
const builder = runUser(patchbay)
let isChanged = false
/** The number of lists requested so far. */
let lists = 0
/** The responses to the upstream's own requests. */
const answers: Message[] = []

const upstream = runFakeApi((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const { id, method, params = {}, error }: Message = JSON.parse(request.body)
  const respond = (said: object, before = ''): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${before}data: ${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n\n`)
  }
  const inputSchema = { type: 'object' }
  if (method === undefined) answers.push({ ...(error && { error }) })
  if (id === undefined || method === undefined) return void response.writeHead(202).end()
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true }, logging: {} }
    const result = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'flooding', version: '1' } }
    return respond({ result })
  }
  if (method === 'tools/list') {
    lists += 1
    const names = [...Object.keys(FLOODS), 'batch', 'change', ...(isChanged ? ['added'] : [])]
    return respond({ result: { tools: names.map((title, at) => ({ name: `t${at}`, title, inputSchema })) } })
  }
  if (method !== 'tools/call') return respond({ error: { code: -32_601, message: 'Method not found' } })
  const at = Number(params.name?.slice(1))
  const result = { content: [{ type: 'text', text: 'done' }] }
  const flood = Object.values(FLOODS)[at]
  if (flood !== undefined) return respond({ result }, flood())
  if (at === Object.keys(FLOODS).length) {
    const batch = [...Array.from({ length: FLOOD }, (_, number) => log(number)), { id, result }]
    response.writeHead(200, { 'content-type': 'application/json' })
    return void response.end(JSON.stringify(batch.map(message => ({ jsonrpc: '2.0', ...message }))))
  }
  isChanged = true
  // Sent at once, so that it is dropped.
  respond({ result }, `${repeat(log, 200)}${CHANGED}`)
})

const attach = async () => {
  const { id: serverId } = await builder.create('/servers', { name: 'Flooded', access: 'public' })
  const config = { name: 'up', transport: 'http', url: upstream.origin }
  const { id } = await builder.create(`/servers/${serverId}/upstreams`, config)
  await builder.expectOk('POST', `/upstreams/${id}/refresh`)
  return { serverId, id, client: await connectClient('sdk 2 stateless', `${patchbay.origin}/s/${serverId}`) }
}

const countDropped = async (serverId: string, id: string): Promise<number> => {
  const person = await signInToPages(patchbay.origin, builder.email)
  const { html } = await person.get(`/servers/${serverId}/sources/upstreams/${id}`)
  const [, dropped = ''] = /([\d,]+) messages? dropped/.exec(textOfPage(html)) ?? []
  return Number(dropped.replaceAll(',', ''))
}

describe('an upstream that floods a call', () => {
  it.each([...Object.keys(FLOODS).entries()])(
    'has its response handled, and the rest dropped and counted: %s %s',
    async at => {
      const { serverId, id, client } = await attach()
      const result = await client.request('tools/call', { name: `up_t${at}`, arguments: {} })
      expect(result).toMatchObject({ content: [{ type: 'text', text: 'done' }] })
      expect(await countDropped(serverId, id)).toBeGreaterThan(FLOOD / 2)
      await client.close()
    },
  )

  it('has few of its requests answered, some of them with an error', () => {
    // 100 results and 100 errors per second.
    expect(answers.length).toBeLessThan(FLOOD / 10)
    const errors = answers.flatMap(({ error }) => (error === undefined ? [] : [error.code]))
    expect(errors.length).toBeGreaterThan(0)
    expect(new Set(errors)).toEqual(new Set([-32_000]))
  })

  it('has its response handled in a batch of notifications', async () => {
    const { serverId, id, client } = await attach()
    const result = await client.request('tools/call', { name: `up_t${Object.keys(FLOODS).length}`, arguments: {} })
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'done' }] })
    expect(await countDropped(serverId, id)).toBeGreaterThan(FLOOD / 2)
    await client.close()
  })

  it('has its lists refreshed once more, if a dropped notification said that they changed', async () => {
    const before = lists
    const { client } = await attach()
    // The lists are read again once the connection is open.
    await vi.waitFor(() => expect(lists - before).toBe(2), { timeout: 10_000 })
    const list = async () => JSON.stringify(await client.request('tools/list', {}))
    await client.request('tools/call', { name: `up_t${Object.keys(FLOODS).length + 1}`, arguments: {} })
    await vi.waitFor(async () => expect(await list()).toContain('"added"'), { timeout: 10_000 })
    await client.close()
  })
})
