import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createBackoff } from '../../src/upstreams/catalogue/refreshes.ts'
import { signUp } from '../support/api-client.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

const patchbay = runPatchbay()

/** The number of lists requested so far. */
let lists = 0
/** Responses held back. */
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

it('a refresh reads a new list, even while another is in progress', async () => {
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
  // By the time of this response, both refresh requests have arrived.
  await api.expectOk('GET', `/servers/${serverId}`)
  for (const tell of reading) tell()
  await Promise.all([first, ...others])
})

describe('the delay before the refresh that an upstream asks for', () => {
  it('is short ten times, then doubles up to a minute, and is short again after a quiet period', () => {
    const backoff = createBackoff()
    const delays: number[] = []
    let now = 0
    for (let times = 0; times < 20; times++) {
      const delay = backoff.next('restless', now)
      delays.push(delay)
      now += delay
    }
    const [short = 0] = delays
    expect(delays.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => short))
    expect(delays.slice(10, 14)).toEqual([2, 4, 8, 16].map(times => short * times))
    expect(delays.at(-1)).toBe(60_000)
    expect(backoff.next('another', now)).toBe(short)
    expect(backoff.next('restless', now + 120_001)).toBe(short)
  })
})
