import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { signInToPages, textOf as textOfPage } from '../support/signed-in.ts'
import { textOf } from './clients.ts'
import { commandOf, runServer } from './support.ts'

/** Paths of the hostile server that do not work as an upstream, with the error of each over either transport. */
const BAD = [
  ['hangs', 'The MCP server did not respond within'],
  ['html', 'The URL responds with something other than MCP'],
  ['fails', 'The MCP server responded with HTTP 503'],
  ['loops', 'redirected again after 5 redirects'],
  ['inward', /sent a redirect that is not allowed|169.254.169.254 is a cloud metadata address/],
  ['cuts', /closed the connection before its response was complete|closed the event stream/],
  ['floods', 'is larger than 10485760 bytes'],
  ['chatters', 'The MCP server sent more than 16 MiB in 10 s'],
] as const
const TRANSPORTS = ['http', 'sse'] as const

const State = z.object({
  state: z.object({ kind: z.string(), why: z.string().optional(), nextTryAt: z.string().optional() }),
})

/** Counts this process's sockets and child processes by kind. */
const countHandles = (): Record<string, number> => {
  const kinds = process.getActiveResourcesInfo().filter(kind => /Process|TCP|TLS/.test(kind))
  return Object.fromEntries([...new Set(kinds)].map(kind => [kind, kinds.filter(each => each === kind).length]))
}
let handles: Record<string, number> = {}

let hostile: Awaited<ReturnType<typeof runServer>>
let app: TestApp
let operator: ApiClient
let serverId = ''
let client: Client
const ids = new Map<string, string>()
const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })
const stateOf = async (name: string) =>
  State.parse((await operator.expectOk('GET', `/upstreams/${ids.get(name)}`)).body).state
const refresh = (name: string) => operator.send('POST', `/upstreams/${ids.get(name)}/refresh`)
/** Expects everything else on the same server to be unaffected. */
const expectNeighboursWell = async (): Promise<void> => {
  expect(textOf(await call('good_echo', { text: 'well' }))).toBe('well')
}

beforeAll(async () => {
  handles = countHandles()
  hostile = await runServer(commandOf('hostile-http'))
  app = await startTestApp({
    services: { connectionLimits: { retryDelaysMs: [60_000], maxOutputBytes: 16 * 1_024 * 1_024 } },
  })
  operator = await signUp(app.origin, 'operator@example.com')
  ;({ id: serverId } = await operator.create('/servers', { name: 'Attached', access: 'public' }))
  const attach = async (name: string, body: object): Promise<void> => {
    ids.set(name, (await operator.create(`/servers/${serverId}/upstreams`, { name, ...body })).id)
  }
  const urlOf = (path: string): string => `http://127.0.0.1:${hostile.port}/${path}`
  await attach('good', { transport: 'http', url: urlOf('serve') })
  await attach('turncoat', { transport: 'http', url: urlOf('serve') })
  await attach('slow', { transport: 'http', url: urlOf('serve'), timeoutMs: 300 })
  for (const transport of TRANSPORTS) {
    for (const [path] of BAD) {
      // The size limit must stop a flood, not the timeout.
      const timeoutMs = path === 'hangs' ? 500 : 10_000
      await attach(`${path}_${transport}`, { transport, url: urlOf(path), timeoutMs })
    }
    await attach(`refuses_${transport}`, { transport, url: 'http://127.0.0.1:1/mcp' })
    await attach(`ours_${transport}`, { transport, url: `${app.settings.baseUrl}/s/${serverId}` })
    await attach(`private_${transport}`, { transport, url: 'http://10.0.0.1/mcp' })
  }
  await Promise.all(['good', 'slow', 'turncoat'].map(refresh))
  client = new Client({ name: 'official', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${app.origin}/s/${serverId}`)))
})

afterAll(async () => {
  await client.close()
  await app.close()
  await hostile.stop()
  // No connection is left open after it was closed, timed out or cut off. Those of earlier files may be closed meanwhile.
  const listMore = () => Object.entries(countHandles()).filter(([kind, count]) => count > (handles[kind] ?? 0))
  await vi.waitFor(() => expect(listMore()).toEqual([]))
})

describe('upstreams beside URLs that do not work', () => {
  it('are listed at once, and the list names the missing ones', async () => {
    const listed = await client.request({ method: 'tools/list' }, z.looseObject({ tools: z.array(z.unknown()) }))
    expect(listed.tools.length).toBeGreaterThan(20)
    const said = JSON.stringify(listed._meta)
    for (const name of ids.keys()) expect(said.includes(`"${name}"`)).toBe(/_/.test(name))
    await expectNeighboursWell()
  })

  it.each(
    TRANSPORTS.flatMap(transport =>
      [
        ...BAD,
        ['refuses', 'refused the connection'] as const,
        ['ours', '^http://localhost:\\d+ is Patchbay itself'] as const,
        ['private', '10.0.0.1 is a private address'] as const,
      ].map(([path, why]) => [`${path}_${transport}`, why] as const),
    ),
  )('are not affected, and the failed one reports its reason: %s', async (name, why) => {
    const refused = await refresh(name)
    expect([refused.status, refused.body]).toEqual([
      503,
      expect.objectContaining({ detail: expect.stringMatching(why) }),
    ])
    expect(await stateOf(name)).toMatchObject({
      kind: 'failed',
      why: expect.stringMatching(why),
      nextTryAt: expect.any(String),
    })
    await expect(call(`${name}_anything`)).rejects.toThrow(`The MCP server "${name}" is unavailable: `)
    await expectNeighboursWell()
  })
})

describe('an upstream that works and then misbehaves', () => {
  it.each([
    ['html', 'responds with something other than MCP'],
    ['teapot', 'HTTP 418'],
    ['fails', 'The MCP server responded with HTTP 502'],
    ['unauthorized', 'The MCP server requires authorization (HTTP 401)'],
    ['redirects', 'redirected again after 5 redirects'],
    ['inward', 'sent a redirect that is not allowed'],
    ['cut-in-json', 'closed the connection before its response was complete'],
    ['cut-in-stream', 'closed the connection before its response was complete'],
    ['ends-unanswered', 'The MCP server closed the stream before it responded'],
    ['large-json', 'is larger than 10485760 bytes'],
    ['large-event', 'is larger than 10485760 bytes'],
    ['many-events', 'The MCP server sent more than 16 MiB in 10 s'],
  ])('fails the call with the reason and serves the next one: %s', async (tool, why) => {
    const [failed] = await Promise.all([call(`turncoat_${tool}`), expectNeighboursWell()])
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toMatch(/^The MCP server "turncoat" failed: /)
    expect(textOf(failed)).toContain(why)
    expect(textOf(await call('turncoat_echo', { text: 'as ever' }))).toBe('as ever')
  })

  it('times the call out if it never responds', async () => {
    const failed = await call('slow_hang')
    expect(textOf(failed)).toContain('failed: The MCP server did not respond within 300 ms')
    expect(textOf(await call('slow_echo', { text: 'as ever' }))).toBe('as ever')
  })

  it('has at most 100 notifications per second handled, and its page counts the others', async () => {
    expect(textOf(await call('turncoat_notify'))).toBe('told')
    const browser = await signInToPages(app.origin, 'operator@example.com', app.settings.baseUrl)
    const path = `/servers/${serverId}/sources/upstreams/${ids.get('turncoat')}`
    const [, dropped = ''] = /([\d,]+) messages? dropped/.exec(textOfPage((await browser.get(path)).html)) ?? []
    expect(Number(dropped.replace(',', ''))).toBeGreaterThan(500)
  })

  it('is read once if it responds twice', async () => {
    expect(textOf(await call('turncoat_twice'))).toBe('first')
    expect(textOf(await call('turncoat_echo', { text: 'as ever' }))).toBe('as ever')
  })
})
