import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { INITIALIZE, postTo } from '../../mcp/messages.ts'
import { postStateless } from '../../mcp/wire.ts'
import { makeServer } from '../../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

/** Characters of one to four bytes, characters that JSON escapes, and odd lengths, so that chunks end inside characters. */
const MIXED = 'aé€😀"\\\n\u0001\u007f\u2028 \ufeff'.repeat(20_000)
const BROKEN = Buffer.concat([Buffer.from('x'.repeat(70_000)), Buffer.from([0xff, 0xed, 0xa0, 0x80]), Buffer.from('y')])
const SECRET = 'sécret "of" ours'

const bodies: Record<string, { type: string; body: Buffer }> = {
  '/mixed': { type: 'text/plain', body: Buffer.from(MIXED) },
  '/untyped': { type: '', body: Buffer.from(MIXED) },
  '/broken': { type: 'text/plain', body: BROKEN },
  '/latin1': { type: 'text/plain; charset=iso-8859-1', body: Buffer.from('é'.repeat(50_000), 'latin1') },
  '/long-secret': { type: 'application/json', body: Buffer.from(JSON.stringify(['x'.repeat(400_000), SECRET, 'é'])) },
  '/long-latin1-secret': {
    type: 'text/plain; charset=iso-8859-1',
    body: Buffer.from(`${'é'.repeat(400_000)}${SECRET}`, 'latin1'),
  },
  '/long-fault': { type: 'text/plain', body: Buffer.from(`${SECRET} ${'x'.repeat(400_000)}`) },
  '/secret': { type: 'application/json', body: Buffer.from(JSON.stringify(['x'.repeat(70_000), SECRET])) },
}
const Reply = z.object({ result: z.object({ content: z.array(z.object({ type: z.string(), text: z.string() })) }) })

const contentOf = async (response: Response) => {
  const body = Buffer.from(await response.arrayBuffer())
  expect(response.headers.get('content-length')).toBe(String(body.length))
  return Reply.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))).result.content
}
const params = { name: 'tool', arguments: {} }
const callStateless = async (url: string) => contentOf(await postStateless(url, undefined, 'tools/call', params))
const callInSession = async (url: string) => {
  const begun = await postTo(url, undefined, INITIALIZE())
  const session = { 'mcp-session-id': z.string().parse(begun.headers.get('mcp-session-id')) }
  return contentOf(await postTo(url, undefined, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }, session))
}

describe('a long text', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(({ url }, response) => {
    const { type = '', body } = bodies[url] ?? {}
    response.writeHead(url === '/long-fault' ? 500 : 200, type === '' ? {} : { 'content-type': type }).end(body)
  })
  const builder = runUser(patchbay)
  const makeTool = (path: string) =>
    makeServer(builder, [{ name: 'tool', method: 'GET', url: `${fake.origin}${path}` }])

  it.each([
    ['UTF-8', '/mixed', MIXED],
    ['no type', '/untyped', MIXED],
    ['broken UTF-8', '/broken', BROKEN.toString()],
    ['another charset', '/latin1', 'é'.repeat(50_000)],
  ])('arrives unchanged, in both eras and through the API: %s', async (_what, path, text) => {
    const { url, instanceIds } = await makeTool(path)
    const expected = [{ type: 'text', text }]
    expect(await callInSession(url)).toEqual(expected)
    expect(await callStateless(url)).toEqual(expected)
    const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
    expect(body).toEqual({ content: expected })
  })

  it.each([
    ['of some size', '/secret', JSON.stringify(['x'.repeat(70_000), '•••'])],
    ['that is searched with turns for others', '/long-secret', JSON.stringify(['x'.repeat(400_000), '•••', 'é'])],
    ['in another charset', '/long-latin1-secret', `${'é'.repeat(400_000)}•••`],
    ['of an error', '/long-fault', `HTTP 500 Internal Server Error\n••• ${'x'.repeat(1_996)}…`],
  ])('contains no secret of the server: one %s', async (_what, path, text) => {
    const { url, serverId } = await makeTool(path)
    await builder.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: SECRET, secret: true })
    const [block] = await callInSession(url)
    expect(block?.text).toBe(text)
  })
})
