import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connect } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

const Result = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
})
const textOf = ({ content: [first] }: z.infer<typeof Result>): string => z.string().parse(first?.text)

const USERS = Array.from({ length: 40 }, (_, index) => ({
  id: index,
  name: `user ${index}`,
  _links: { self: `/users/${index}`, secret: 'hidden-value' },
  bio: `<p>I am <b>number ${index}</b></p>`,
}))
const PAGE =
  '<html><head><style>p{}</style></head><body><h1>Title</h1><p>One <a href="/x">link</a></p><script>1</script></body></html>'

const answers: Record<string, (response: ServerResponse) => void> = {
  '/users': response => answerJson(response, { users: USERS, total: 40 }),
  '/page': response => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE),
  '/text': response => response.writeHead(200, { 'content-type': 'text/plain' }).end('plain words'),
  '/lines': response =>
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end('{"id":1,"html":"<b>"}\n{"id":2}'),
  '/table': response => response.writeHead(200, { 'content-type': 'text/csv' }).end('id,html\n1,<b>'),
  '/number': response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": 12345678901234567890}'),
  '/empty': response => response.writeHead(204).end(),
  '/missing': response => answerJson(response, { error: 'gone' }, 404),
  '/echo-secret': response => answerJson(response, { token: 's3cret-value-1', other: 'x' }),
}

describe('a tool that shapes its results', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(({ url }, response) => (answers[url] ?? (r => answerJson(r, {}, 404)))(response))
  const builder = runUser(patchbay)

  const call = async (path: string, more: Record<string, unknown>, compactTables = false) => {
    const tool = { name: 'tool', method: 'GET', url: `${fake.origin}${path}`, ...more }
    const { serverId, instanceIds } = await makeServer(builder, [tool])
    if (compactTables) await builder.expectOk('PATCH', `/servers/${serverId}`, { compactTables })
    const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
    return Result.parse(body)
  }
  const jsonata = (expression: string) => ({ response: { transform: { language: 'jsonata', expression } } })
  const jmespath = (expression: string) => ({ response: { transform: { language: 'jmespath', expression } } })

  it.each([
    ['JSONata', '/users', jsonata('users[id < 2].{"n": name}'), '[{"n":"user 0"},{"n":"user 1"}]'],
    ['JMESPath', '/users', jmespath('users[?id < `2`].name'), '["user 0","user 1"]'],
    ['an expression that makes a text', '/users', jsonata('$join(users[id < 3].name, ", ")'), 'user 0, user 1, user 2'],
    ['an expression that finds nothing', '/users', jsonata('nobody.there'), 'null'],
    ['an id of 64 bits', '/number', jsonata('id'), '12345678901234567890'],
    [
      'an id of 64 bits that is not looked at',
      '/number',
      { response: { dropFields: ['x'] } },
      '{"id":12345678901234567890}',
    ],
    ['lines of JSON', '/lines', { response: { dropFields: ['html'] } }, '{"id":1}\n{"id":2}'],
    ['a table', '/table', { response: { dropFields: ['html'] } }, 'id\n1'],
    ['a page', '/page', { response: { htmlToMarkdown: true } }, '# Title\n\nOne [link](/x)'],
    ['a text that is longer', '/text', { response: { maxStringLength: 20 } }, 'plain words'],
    ['nothing', '/empty', jsonata('a'), 'HTTP 204 No Content, with an empty body'],
  ])('%s', async (_what, path, more, text) => {
    const result = await call(path, more)
    expect(textOf(result)).toBe(text)
    expect(result.isError).toBeUndefined()
  })

  it('drops fields, converts HTML and cuts long strings in one pass', async () => {
    const rules = {
      response: {
        dropFields: ['users[]._links', 'total'],
        htmlToMarkdown: true,
        transform: { language: 'jmespath', expression: 'users[0]' },
        maxStringLength: 20,
      },
    }
    expect(JSON.parse(textOf(await call('/users', rules)))).toEqual({ id: 0, name: 'user 0', bio: 'I am **number 0**' })
  })

  it.each([
    ['an error of the API', '/missing', jsonata('a'), /^HTTP 404/],
    ['a text that is not JSON', '/text', jsonata('a'), /^The transform of this tool \(JSONata\) needs JSON/],
    [
      'what throws',
      '/users',
      jsonata('$error("nothing here")'),
      /^The transform of this tool \(JSONata\) failed .*: nothing here$/,
    ],
    [
      'what is called wrongly',
      '/users',
      jmespath('length(total)'),
      /^The transform of this tool \(JMESPath\) failed: .*length/,
    ],
  ])('reports %s as an error', async (_what, path, more, said) => {
    const result = await call(path, more)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(said)
  })

  it('matches the transformed result with the output schema', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const fits = await call('/users', { ...jsonata('{"n": total}'), outputSchema })
    expect(fits).toMatchObject({ structuredContent: { n: 40 }, content: [{ type: 'text', text: '{"n":40}' }] })
    const misses = await call('/users', { ...jsonata('{"n": "many"}'), outputSchema })
    expect(misses).toMatchObject({ structuredContent: {}, content: [{ type: 'text', text: '{"n":"many"}' }] })
    expect(misses.isError).toBeUndefined()
  })

  it('turns lists of similar objects into tables if the server does so and the tool has no output schema', async () => {
    const rules = { response: { dropFields: ['users[]._links', 'users[]['.concat('"bio"]')] } }
    const table = JSON.parse(textOf(await call('/users', rules, true)))
    expect(table.users.columns).toEqual(['id', 'name'])
    expect(table.users.rows[39]).toEqual([39, 'user 39'])
    expect(JSON.parse(textOf(await call('/users', {}, true))).users.columns).toEqual(['id', 'name', '_links', 'bio'])
    expect(JSON.parse(textOf(await call('/users', {}))).users).toEqual(USERS)
    const outputSchema = { type: 'object' }
    expect(JSON.parse(textOf(await call('/users', { outputSchema }, true))).users).toEqual(USERS)
  })

  it('masks an echoed secret that a transform rewrites', async () => {
    const expression = '$base64encode(token) & " " & $substring(token, 0, 5) & "|" & $substring(token, 5)'
    const tool = {
      name: 'tool',
      method: 'GET',
      url: `${fake.origin}/echo-secret`,
      headers: [{ name: 'x-key', value: '{{key}}' }],
      ...jsonata(expression),
    }
    const { serverId, instanceIds } = await makeServer(builder, [tool])
    await builder.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: 's3cret-value-1', secret: true })
    await builder.expectOk('PATCH', `/instances/${instanceIds.tool}`, { bindings: { key: { source: 'server' } } })
    const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
    const text = textOf(Result.parse(body))
    expect(text).not.toMatch(/s3cre|t-value/)
    expect(text).not.toContain(Buffer.from('s3cret-value-1').toString('base64'))
  })

  it('sends the shaped result of any length', async () => {
    const { url } = await makeServer(
      builder,
      [
        { name: 'names', method: 'GET', url: `${fake.origin}/users`, ...jmespath('users[:2].name') },
        { name: 'long', method: 'GET', url: `${fake.origin}/users`, ...jsonata('$pad("", 20000, "né")') },
      ],
      { server: { maxResponseTokens: 0 } },
    )
    const client = await connect(url)
    expect((await client.callTool({ name: 'names' })).content).toEqual([{ type: 'text', text: '["user 0","user 1"]' }])
    expect((await client.callTool({ name: 'long' })).content).toEqual([{ type: 'text', text: 'né'.repeat(10_000) }])
  })

  it.each([
    [
      'an expression of neither language',
      { transform: { language: 'xpath', expression: '/a' } },
      'response.transform.language',
      /must be jsonata or jmespath/,
    ],
    [
      'an expression that cannot be read',
      { transform: { language: 'jsonata', expression: 'a\n.b ]' } },
      'response.transform.expression',
      /^line 2, column 4: not valid JSONata: /,
    ],
    [
      'one of the other language',
      { transform: { language: 'jmespath', expression: 'a & b' } },
      'response.transform.expression',
      /^line 1, column 3: not valid JMESPath: /,
    ],
    ['an empty one', { transform: { language: 'jsonata', expression: '' } }, 'response.transform.expression', /empty/],
    [
      'one that is too long',
      { transform: { language: 'jsonata', expression: `"${'x'.repeat(10_000)}"` } },
      'response.transform.expression',
      /longer than 10000/,
    ],
    ['a path that is none', { dropFields: ['a', 'b..c'] }, 'response.dropFields[1]', /^column 3: /],
    ['a string of no length', { maxStringLength: 0 }, 'response.maxStringLength', /from 20 to 1,000,000/],
    ['what there is not', { filter: 'a' }, 'response', /filter/],
  ])('refuses %s beside its field', async (_what, response, path, said) => {
    const toolkit = await builder.create('/toolkits', { title: 'Refused' })
    const refused = await builder.send('POST', `/toolkits/${toolkit.id}/tools`, {
      name: 'tool',
      method: 'GET',
      url: 'https://a.example',
      response,
    })
    expect(refused.status).toBe(400)
    const { errors } = z
      .object({ errors: z.array(z.object({ path: z.string(), message: z.string() })) })
      .parse(refused.body)
    expect(errors.find(error => error.path === path)?.message).toMatch(said)
  })

  it('returns its rules unchanged, and drops them with null', async () => {
    const response = {
      htmlToMarkdown: true,
      dropFields: ['a.b'],
      transform: { language: 'jsonata', expression: 'c' },
      maxStringLength: 500,
    }
    const toolkit = await builder.create('/toolkits', { title: 'Kept' })
    const tool = await builder.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'tool',
      method: 'GET',
      url: 'https://a.example',
      response,
    })
    expect(tool.response).toEqual(response)
    expect((await builder.expectOk('PATCH', `/tools/${tool.id}`, { title: 'T' })).body).toMatchObject({ response })
    expect((await builder.expectOk('PATCH', `/tools/${tool.id}`, { response: null })).body).toMatchObject({
      response: null,
    })
  })
})
