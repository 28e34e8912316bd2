import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { runFakeApi, runPatchbay } from '../servers/patchbay.ts'
import { signUp } from '../support/api-client.ts'

const patchbay = runPatchbay()

let lists = 0
/** Requests whose response is held back. */
let held: (() => void)[] | undefined
const upstream = runFakeApi((request, response) => {
  const { id, method } = request.body === '' ? {} : JSON.parse(request.body)
  if (id === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end()
  const answer = (said: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
  }
  if (method === 'initialize') {
    const serverInfo = { name: 'slow', version: '1' }
    answer({ result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } })
  } else if (method === 'tools/list') {
    lists += 1
    const result = { tools: [{ name: String(lists), inputSchema: { type: 'object' } }] }
    if (held === undefined) answer({ result })
    else held.push(() => answer({ result }))
  } else answer({ error: { code: -32_601, message: 'Method not found' } })
})

const Offer = z.object({ tools: z.tuple([z.coerce.number()]) })

it('refreshing an upstream returns its current lists, even if a refresh is already running', async () => {
  const api = await signUp(patchbay.origin)
  const { id: serverId } = await api.create('/servers', { name: 'Asked' })
  const { id } = await api.create(`/servers/${serverId}/upstreams`, {
    name: 'slow',
    transport: 'http',
    url: upstream.origin,
  })
  const expectNew = async (): Promise<void> => {
    const before = lists
    const { tools } = Offer.parse((await api.expectOk('POST', `/upstreams/${id}/refresh`)).body)
    expect(tools[0]).toBeGreaterThan(before)
  }
  await expectNew()
  const reading: (() => void)[] = []
  held = reading
  const first = expectNew()
  await vi.waitFor(() => expect(reading).toHaveLength(1))
  held = undefined
  const others = [expectNew(), expectNew()]
  // Both requests have arrived and wait.
  await api.expectOk('GET', `/servers/${serverId}`)
  for (const tell of reading) tell()
  await Promise.all([first, ...others])
})
