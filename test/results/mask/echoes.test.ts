import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

const Result = z.object({ content: z.array(z.object({ text: z.string() })) })

const SECRET = `Kq/7&<w>'z"`
/** Also sent in a header, in lowercase if the header is a media type. */
const PLAIN = 'Tok3n-Zyx'

/** Every spelling in which an API's encoder may write the secret. */
const SPELLINGS: Record<string, string> = {
  'JSON with escaped slashes': String.raw`Kq\/7&<w>'z\"`,
  'JSON for pages': String.raw`Kq/7\u0026\u003cw\u003e'z\"`,
  'JSON for pages, in capitals': String.raw`Kq/7\u0026\u003Cw\u003E'z\"`,
  'JSON with both': String.raw`Kq\/7\u0026\u003cw\u003e'z\"`,
  'JSON in JSON with escaped slashes': String.raw`Kq\\\/7&<w>'z\\\"`,
  'HTML with a decimal quote': `Kq/7&amp;&lt;w&gt;&#39;z&quot;`,
  'HTML with a padded decimal quote': `Kq/7&amp;&lt;w&gt;&#039;z&quot;`,
  'HTML with a hexadecimal quote': `Kq/7&amp;&lt;w&gt;&#x27;z&quot;`,
  'HTML with two decimal quotes': `Kq/7&amp;&lt;w&gt;&#39;z&#34;`,
  'a query of a URL': 'Kq%2F7%26%3Cw%3E%27z%22',
  'a query of a URL, in small letters': 'Kq%2f7%26%3cw%3e%27z%22',
  'HTML in JSON with escaped slashes': String.raw`Kq\/7&amp;&lt;w&gt;&#39;z&quot;`,
  'HTML in JSON for pages': String.raw`Kq/7\u0026amp;\u0026lt;w\u0026gt;\u0026#39;z\u0026quot;`,
}
const UNKNOWN_ESCAPES = [...PLAIN].map(char => `\\u00${char.charCodeAt(0).toString(16)}`).join('')
const json = { 'content-type': 'application/json' }

/** Basic credentials in which the secret begins at each of the three offsets of Base64. */
const CREDENTIALS = ['id', 'key', 'user'].map(user => Buffer.from(`${user}:${PLAIN}`).toString('base64'))

const answers: Record<string, (response: ServerResponse) => void> = {
  '/credentials': response => response.writeHead(200, json).end(JSON.stringify(CREDENTIALS)),
  '/status': response => response.writeHead(400, `Bad ${PLAIN}`, { 'retry-after': PLAIN }).end(),
  '/empty': response => response.writeHead(204, `Fine ${PLAIN}`).end(),
  '/type': response => response.writeHead(200, { 'content-type': `application/${PLAIN}` }).end('x'),
  '/error-type': response => response.writeHead(500, { 'content-type': `application/${PLAIN}` }).end('x'),
  '/part': response =>
    response
      .writeHead(200, { 'content-type': 'multipart/mixed; boundary=cut' })
      .end(`--cut\r\nContent-Type: image/${PLAIN}\r\n\r\nx\r\n--cut--\r\n`),
  '/escapes': response => response.writeHead(200, json).end(`{"${UNKNOWN_ESCAPES}": ["${UNKNOWN_ESCAPES}"], "id": 7}`),
  '/binary': response => response.writeHead(200, { 'content-type': 'image/png' }).end(`\0${SECRET}\0`),
}

describe('an answer that quotes a secret', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(({ url }, response) => {
    const spelling = SPELLINGS[decodeURIComponent(url.slice(1))]
    if (spelling === undefined) answers[url]?.(response)
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(`before ${spelling} after`)
  })
  const builder = runUser(patchbay)

  const call = async (path: string, more: Record<string, unknown> = {}): Promise<unknown> => {
    const tool = { name: 'tool', method: 'GET', url: `${fake.origin}${path}`, ...more }
    const { serverId, instanceIds } = await makeServer(builder, [tool])
    await builder.expectOk('PUT', `/servers/${serverId}/globals/one`, { value: SECRET, secret: true })
    await builder.expectOk('PUT', `/servers/${serverId}/globals/two`, { value: PLAIN, secret: true })
    return (await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })).body
  }

  it.each(Object.keys(SPELLINGS))('as %s: is masked', async spelling => {
    const result = await call(`/${encodeURIComponent(spelling)}`)
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'before ••• after' }] })
  })

  it('in Basic credentials: is masked at each offset', async () => {
    const { content } = Result.parse(await call('/credentials'))
    const shown: string[] = JSON.parse(content[0]?.text ?? '')
    expect(shown).toHaveLength(CREDENTIALS.length)
    for (const credentials of shown) {
      expect(credentials).toContain('•••')
      for (const part of credentials.split('•••')) expect(Buffer.from(part, 'base64').toString()).not.toContain('k3n')
    }
  })

  it.each(['/status', '/empty', '/type', '/error-type', '/part'])('beside its body, at %s: is masked', async path => {
    const shown = JSON.stringify(await call(path))
    expect(shown).toContain('•••')
    expect(shown.toLowerCase()).not.toContain(PLAIN.toLowerCase())
  })

  it('in escapes that only a parser undoes, in keys and values: is masked where the answer is parsed', async () => {
    expect(await call('/escapes', { outputSchema: { type: 'object', required: ['id'] } })).toEqual({
      content: [{ type: 'text', text: '{"•••":["•••"],"id":7}' }],
      structuredContent: { '•••': ['•••'], id: 7 },
    })
  })

  it('in bytes: is overwritten', async () => {
    const data = Buffer.from(`\0${'*'.repeat(SECRET.length)}\0`).toString('base64')
    expect(await call('/binary')).toMatchObject({ content: [{ type: 'image', data }] })
  })
})
