import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Result = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
})
type Call = (name: string) => Promise<z.infer<typeof Result>>

const INFO = { name: 'strict', version: '1.0.0' }

const first = async (url: string): Promise<Call> => {
  const client = new Client1(INFO)
  await client.connect(new Http1(new URL(url)))
  onTestFinished(() => client.close())
  await client.listTools()
  return async name => Result.parse(await client.callTool({ name, arguments: {} }))
}
const second =
  (options: ConstructorParameters<typeof Client2>[1]) =>
  async (url: string): Promise<Call> => {
    const client = new Client2(INFO, options)
    await client.connect(new Http2(new URL(url)))
    onTestFinished(() => client.close())
    await client.listTools()
    return async name => Result.parse(await client.callTool({ name, arguments: {} }))
  }

/** Official clients, which refuse a result whose structured content is missing or does not match the listed schema. */
const CLIENTS = [
  { name: 'SDK 1', open: first, wraps: true },
  { name: 'SDK 2 with a session', open: second({}), wraps: true },
  { name: 'SDK 2 at 2025-06-18', open: second({ supportedProtocolVersions: ['2025-06-18'] }), wraps: true },
  { name: 'SDK 2 at 2026-07-28', open: second({ versionNegotiation: { mode: { pin: '2026-07-28' } } }), wraps: false },
]

const ORDER = {
  id: 'seven',
  note: 'x',
  lines: [
    { sku: 'a', count: 1 },
    { sku: 2, count: 3 },
  ],
}
const LINE = { type: 'object', properties: { sku: { type: 'string' }, count: { type: 'integer' } } }
const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'integer' }, note: { type: 'string' }, lines: { type: 'array', items: LINE } },
  required: ['id'],
}
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

const TOOLS = {
  order: { path: '/order', outputSchema: SCHEMA },
  union: { path: '/order', outputSchema: { type: 'object', anyOf: [SCHEMA, { required: ['error'] }] } },
  list: { path: '/orders', outputSchema: { type: 'array', items: SCHEMA } },
  text: { path: '/text', outputSchema: SCHEMA },
  empty: { path: '/empty', outputSchema: SCHEMA },
  picture: { path: '/picture', outputSchema: SCHEMA },
  fails: { path: '/fails', outputSchema: SCHEMA },
}

describe('a response that does not match the output schema', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(({ url }, response) => {
    if (url === '/text') response.writeHead(200, { 'content-type': 'text/plain' }).end('no JSON')
    else if (url === '/empty') response.writeHead(204).end()
    else if (url === '/picture') response.writeHead(200, { 'content-type': 'image/png' }).end(PNG)
    else if (url === '/fails') answerJson(response, { error: 'no' }, 500)
    else answerJson(response, url === '/orders' ? [ORDER] : ORDER)
  })
  const builder = runUser(patchbay)
  const make = () =>
    makeServer(
      builder,
      Object.entries(TOOLS).map(([name, { path, outputSchema }]) => ({
        name,
        method: 'GET',
        url: `${fake.origin}${path}`,
        outputSchema,
      })),
    )

  it.each(CLIENTS)('fails no call, and keeps the text whole: $name', async ({ open, wraps }) => {
    const { url } = await make()
    const call = await open(url)
    expect(await call('order')).toMatchObject({
      content: [{ type: 'text', text: JSON.stringify(ORDER) }],
      structuredContent: { note: 'x', lines: [{ sku: 'a', count: 1 }, { count: 3 }] },
    })
    for (const [name, content] of [
      ['union', { type: 'text', text: JSON.stringify(ORDER) }],
      ['text', { type: 'text', text: 'no JSON' }],
      ['empty', { type: 'text', text: 'HTTP 204 No Content, with an empty body' }],
      ['picture', { type: 'image', data: PNG.toString('base64'), mimeType: 'image/png' }],
    ] as const) {
      const result = await call(name)
      expect([result.content, result.structuredContent, result.isError]).toEqual([[content], {}, undefined])
    }
    expect((await call('list')).structuredContent).toEqual(wraps ? { result: {} } : {})
    expect(await call('fails')).not.toHaveProperty('structuredContent')
  })

  it('is noted in the history, and when the builder tries the tool', async () => {
    const { serverId, url, toolIds } = await make()
    const call = await first(url)
    await call('order')
    await call('text')
    const { body } = await builder.expectOk('GET', `/servers/${serverId}/executions`)
    expect(body).toMatchObject({
      items: [
        { result: 'success', schemaMismatch: 'the response is not JSON' },
        { result: 'success', schemaMismatch: 'id must be integer; lines[].sku must be string' },
      ],
    })
    const tried = await builder.expectOk('POST', `/tools/${toolIds.order}/test`, { arguments: {} })
    expect(tried.body).toMatchObject({ schemaMismatch: 'id must be integer; lines[].sku must be string' })
  })
})
