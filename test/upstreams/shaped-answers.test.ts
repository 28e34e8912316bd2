import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callTexts, connect } from '../servers/mcp.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { type Asked, runScriptedUpstreams } from './scripted-upstream.ts'
import { everythingCommand } from './support.ts'

const USERS = Array.from({ length: 30 }, (_, id) => ({
  id,
  name: `user ${id}`,
  links: [{ href: `/users/${id}` }],
  bio: `<p>I am <b>number ${id}</b></p>`,
}))
const LIST = { users: USERS, total: 30 }
const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { users: { type: 'array' }, total: { type: 'integer' } },
  required: ['total'],
}
const PIXEL = 'iVBORw0KGgo='

const text = (said: string) => ({ type: 'text', text: said })
const structured = { content: [text('Thirty users, as structured content.')], structuredContent: LIST }

/** The result of each tool. */
const RESULTS: Readonly<Record<string, object>> = {
  users: { content: [text(JSON.stringify(LIST))] },
  several: { content: [text('Two of them:'), text('{"id":1,"x":2}'), text('{"id":2,"x":3}')] },
  words: { content: [text('plain words')] },
  page: { content: [text('<h1>Title</h1><p>One <a href="/x">link</a></p>')] },
  picture: { content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }, text('{"a":1,"b":2}')] },
  fails: { content: [text('{"a":1}')], isError: true },
  structured,
  declared: structured,
  secret: { content: [text('{"token":"s3cret-value-1","other":"x"}')] },
  constructor: { content: [text('{"a":1}')] },
}

let calls = 0
const resultOf = ({ params }: Asked): string => {
  calls++
  const name = z.string().parse(params?.name)
  if (name !== 'count' && name !== 'unsaid') return JSON.stringify(RESULTS[name])
  const { fail } = z.record(z.string(), z.unknown()).parse(params?.arguments ?? {})
  return JSON.stringify({ content: [text(`call ${calls}`)], isError: fail !== undefined })
}
const toolOf = (name: string) => ({
  name,
  inputSchema: { type: 'object' },
  ...(name === 'declared' ? { outputSchema: SCHEMA } : {}),
})
const TOOLS = [
  ...Object.keys(RESULTS).map(toolOf),
  { ...toolOf('count'), annotations: { readOnlyHint: true } },
  toolOf('unsaid'),
]

const jsonata = (expression: string) => ({ transform: { language: 'jsonata', expression } })
const jmespath = (expression: string) => ({ transform: { language: 'jmespath', expression } })

describe('shaping results of upstream tools', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  const upstreams = runScriptedUpstreams({ shaped: { tools: () => TOOLS, result: resultOf } })
  const operator = runUser(patchbay, 'operator@example.com')

  const attach = async (more: object = {}, server: object = {}) => {
    const { id: serverId } = await operator.create('/servers', {
      name: 'Shaped',
      access: 'public',
      maxResponseTokens: 0,
      ...server,
    })
    await operator.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: 's3cret-value-1', secret: true })
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, {
      name: 'up',
      transport: 'http',
      url: upstreams.urlOf('shaped'),
      ...more,
    })
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    return { serverId, id, client: await connect(`${patchbay.origin}/s/${serverId}`) }
  }
  const shape = async (tool: string, response: object, more: object = {}) => {
    const { client } = await attach({ toolAnswers: { [tool]: { response } }, ...more })
    return callTexts(client, `up_${tool}`)
  }

  it.each([
    ['JSONata', 'users', jsonata('users[id < 2].{"n": name}'), ['[{"n":"user 0"},{"n":"user 1"}]']],
    ['JMESPath', 'users', jmespath('users[?id < `2`].name'), ['["user 0","user 1"]']],
    [
      'a path that is left out, of each text',
      'several',
      { dropFields: ['x'] },
      ['Two of them:', '{"id":1}', '{"id":2}'],
    ],
    ['a transform of several texts, of those that are JSON', 'several', jmespath('id'), ['Two of them:', '1', '2']],
    ['a page that nobody says is one', 'page', { htmlToMarkdown: true }, ['# Title\n\nOne [link](/x)']],
    ['a text that is no longer', 'words', { maxStringLength: 20 }, ['plain words']],
    ['an answer with an image', 'picture', { dropFields: ['b'] }, ['{"a":1}']],
    ['an error', 'fails', { dropFields: ['a'] }, ['{"a":1}']],
    ['a tool called as members of every object are', 'constructor', { maxStringLength: 20 }, ['{"a":1}']],
    ['a secret, masked before the steps', 'secret', jsonata('$length(token) & other'), ['3x']],
  ])('%s', async (_what, tool, response, texts) => {
    expect((await shape(tool, response)).texts).toEqual(texts)
  })

  it('keeps images in place and errors unchanged', async () => {
    const { content } = await shape('picture', { dropFields: ['b'] })
    expect(content.map(({ type }) => type)).toEqual(['image', 'text'])
    expect((await shape('fails', jsonata('a'))).isError).toBe(true)
  })

  it.each([
    ['no JSON', 'words', jsonata('a'), /^The transform of this tool \(JSONata\) needs JSON/],
    ['what throws', 'users', jsonata('$error("nothing here")'), /^The transform of this tool .*nothing here$/],
  ])('reports %s as an error, also in the history', async (_what, tool, response, said) => {
    const { client, serverId } = await attach({ toolAnswers: { [tool]: { response } } })
    const { isError, texts } = await callTexts(client, `up_${tool}`)
    expect([isError, texts[0]]).toEqual([true, expect.stringMatching(said)])
    const { body } = await operator.expectOk('GET', `/servers/${serverId}/executions`)
    expect(body).toMatchObject({ items: [{ outcome: 'error', error: expect.stringMatching(said) }] })
  })

  it('shapes structured content and generates the text from it', async () => {
    const { texts, structured: value } = await shape('structured', { dropFields: ['users'] })
    expect([texts, value]).toEqual([['{"total":30}'], undefined])
  })

  it('matches the result with the output schema after the last step, and never fails because of it', async () => {
    const fits = await shape('declared', { dropFields: ['users'] })
    expect(fits).toMatchObject({ texts: ['{"total":30}'], structured: { total: 30 }, isError: false })
    const { client, serverId } = await attach({ toolAnswers: { declared: { response: jsonata('{"total": users}') } } })
    await client.listTools()
    const misses = await callTexts(client, 'up_declared')
    expect(misses).toMatchObject({ texts: [JSON.stringify({ total: USERS })], structured: {}, isError: false })
    const { body } = await operator.expectOk('GET', `/servers/${serverId}/executions`)
    expect(body).toMatchObject({ items: [{ outcome: 'ok', schemaMismatch: 'total must be integer' }] })
  })

  it('lists a tool with its own budget without its output schema, and validates nothing', async () => {
    const { client } = await attach({
      toolAnswers: { declared: { response: jsonata('$count(users)') } },
      responseTokens: { declared: 300 },
    })
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'up_declared')?.outputSchema).toBeUndefined()
    expect(await callTexts(client, 'up_declared')).toMatchObject({ texts: ['30'], structured: undefined })
  })

  it('happens before the budget applies, so that a cut result stores the shaped form', async () => {
    const { client } = await attach(
      { toolAnswers: { users: { response: { dropFields: ['users[].links'] } } } },
      { maxResponseTokens: 300 },
    )
    const cut = await callTexts(client, 'up_users')
    expect(cut.meta).toMatchObject({ cacheId: expect.any(String) })
    const cacheId = z.object({ cacheId: z.string() }).parse(cut.meta).cacheId
    const found = await callTexts(client, 'proxy_search', { cache_id: cacheId, pattern: 'href' })
    expect(found.texts.join('\n')).not.toContain('/users/1')
    expect(
      (await callTexts(client, 'proxy_search', { cache_id: cacheId, pattern: 'number 29' })).texts.join(),
    ).toContain('29')
  })

  it('applies to grouped tools and to tools called through search', async () => {
    const rules = { toolAnswers: { users: { response: jsonata('total') } } }
    const grouped = await attach(rules, { presentation: 'grouped' })
    const inner = await callTexts(grouped.client, 'call_dynamic_tool', { group: 'up', name: 'users', args: {} })
    expect(inner.texts).toEqual(['30'])
    const searched = await attach(rules, { presentation: 'search' })
    expect((await callTexts(searched.client, 'call_tool', { name: 'up_users', arguments: {} })).texts).toEqual(['30'])
  })

  it('turns lists of similar objects into tables if the server sends tables and no schema is declared', async () => {
    const { client } = await attach({}, { compactTables: true })
    expect((await callTexts(client, 'up_users')).texts[0]).toContain('"columns":["id","name","links","bio"]')
    expect((await callTexts(client, 'up_declared')).structured).toEqual(LIST)
    expect((await callTexts(client, 'up_structured')).structured).toEqual(LIST)
  })

  it("counts the tokens of the upstream's result and of what was sent", async () => {
    const { client, serverId } = await attach({ toolAnswers: { users: { response: jsonata('total') } } })
    await callTexts(client, 'up_users')
    const Counted = z.object({ items: z.tuple([z.object({ tokensBefore: z.number(), tokensSent: z.number() })]) })
    const counted = async () =>
      Counted.safeParse((await operator.expectOk('GET', `/servers/${serverId}/executions`)).body).data?.items[0]
    await expect.poll(counted, { timeout: 20_000 }).toMatchObject({
      tokensBefore: expect.toSatisfy((before: number) => before > 500),
      tokensSent: expect.toSatisfy((sent: number) => sent < 5),
    })
  })

  it('changes without a new connection, and is removed with null', async () => {
    const { id, client } = await attach()
    const opened = upstreams.timesAsked('shaped', 'initialize')
    const change = (toolAnswers: object | null) => operator.expectOk('PATCH', `/upstreams/${id}`, { toolAnswers })
    const { body } = await change({ users: { response: jsonata('total') } })
    expect(body).toMatchObject({ toolAnswers: { users: { response: jsonata('total') } } })
    await expect.poll(async () => (await callTexts(client, 'up_users')).texts).toEqual(['30'])
    expect(upstreams.timesAsked('shaped', 'initialize')).toBe(opened)
    await change(null)
    await expect.poll(async () => (await callTexts(client, 'up_users')).texts).toEqual([JSON.stringify(LIST)])
    const audit = await operator.expectOk('GET', '/audit?limit=1')
    expect(JSON.stringify(audit.body)).toContain('"toolAnswers"')
  })

  it.each([
    [
      'a line that is not JSONata',
      { a: { response: jsonata('a\n.b ]') } },
      'toolAnswers.a.response.transform.expression',
      /^line 2, column 4: not valid JSONata: /,
    ],
    [
      'a path that is none',
      { a: { response: { dropFields: ['a', 'b..c'] } } },
      'toolAnswers.a.response.dropFields[1]',
      /^column 3: /,
    ],
    [
      'a string of no length',
      { a: { response: { maxStringLength: 0 } } },
      'toolAnswers.a.response.maxStringLength',
      /from 20 to 1,000,000/,
    ],
    ['no time', { a: { cacheSeconds: 0 } }, 'toolAnswers.a.cacheSeconds', /from 1 to 86,400/],
    ['more than a day', { a: { cacheSeconds: 86_401 } }, 'toolAnswers.a.cacheSeconds', /from 1 to 86,400/],
    ['what there is not', { a: { filter: 'b' } }, 'toolAnswers.a', /filter/],
    [
      'too much',
      Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [`t${at}`, { response: jsonata(`"${'x'.repeat(9_000)}"`) }]),
      ),
      'toolAnswers',
      /longer than 262144 bytes/,
    ],
    [
      'too many',
      Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`t${at}`, {}])),
      'toolAnswers',
      /at most 1000/,
    ],
  ])('refuses %s beside its field', async (_what, toolAnswers, path, said) => {
    const { id } = await attach()
    const refused = await operator.send('PATCH', `/upstreams/${id}`, { toolAnswers })
    expect(refused.status).toBe(400)
    const { errors } = z
      .object({ errors: z.array(z.object({ path: z.string(), message: z.string() })) })
      .parse(refused.body)
    expect(errors.find(error => error.path === path)?.message).toMatch(said)
  })

  it('shapes results of a published server, also if its schema requires what is dropped', async () => {
    const { id: serverId } = await operator.create('/servers', { name: 'Npm', access: 'public' })
    const response = { dropFields: ['humidity'] }
    const upstream = await operator.create(`/servers/${serverId}/upstreams`, {
      name: 'every',
      ...everythingCommand(),
      toolAnswers: { echo: { response: { maxStringLength: 20 } }, 'get-structured-content': { response } },
    })
    await operator.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
    const client = await connect(`${patchbay.origin}/s/${serverId}`)
    const echoed = await callTexts(client, 'every_echo', { message: 'x'.repeat(40) })
    expect(echoed.texts).toEqual([expect.stringMatching(/^Echo: x+… \(\d+ more characters\)$/)])
    await client.listTools()
    const shaped = await callTexts(client, 'every_get-structured-content', { location: 'Chicago' })
    expect(shaped.structured).toEqual({ temperature: expect.any(Number), conditions: expect.any(String) })
  })

  describe('a cached result', () => {
    const count = (client: Client, args: object = {}, tool = 'count') => callTexts(client, `up_${tool}`, { ...args })

    const isKept = async (client: Client): Promise<boolean> => {
      const [one, two] = [await count(client, {}, 'unsaid'), await count(client, {}, 'unsaid')]
      return one.texts[0] === two.texts[0]
    }

    it('is reused for the same arguments of a read-only tool, and marked in the history', async () => {
      const { client, serverId } = await attach({ toolAnswers: { count: { cacheSeconds: 60, cacheShared: true } } })
      const first = await count(client)
      expect((await count(client)).texts).toEqual(first.texts)
      expect((await count(client, { other: 1 })).texts).not.toEqual(first.texts)
      const { body } = await operator.expectOk('GET', `/servers/${serverId}/executions`)
      const ages = z.object({ items: z.array(z.object({ answerAgeMs: z.number().nullable() })) }).parse(body)
      expect(ages.items.map(({ answerAgeMs }) => answerAgeMs === null)).toEqual([true, false, true])
    })

    it("is never an error, nor another caller's", async () => {
      const { client } = await attach({ toolAnswers: { count: { cacheSeconds: 60, cacheShared: true } } })
      expect((await count(client, { fail: 1 })).texts).not.toEqual((await count(client, { fail: 1 })).texts)
      const own = await attach({ toolAnswers: { count: { cacheSeconds: 60 } } })
      expect((await count(own.client)).texts).not.toEqual((await count(own.client)).texts)
    })

    it('is not shared with clients with other metadata, or that can be asked questions', async () => {
      const { client, serverId } = await attach({ toolAnswers: { count: { cacheSeconds: 60, cacheShared: true } } })
      const say = async (by: Client, _meta?: Record<string, unknown>) =>
        JSON.stringify((await by.callTool({ name: 'up_count', arguments: {}, ...(_meta && { _meta }) })).content)
      const plain = await say(client)
      const inRome = await say(client, { 'example.com/place': 'Rome' })
      expect(inRome).not.toBe(plain)
      expect(await say(client, { 'example.com/place': 'Rome', traceparent: '00-1-2-01' })).toBe(inRome)
      const asked = await connect(`${patchbay.origin}/s/${serverId}`, undefined, { capabilities: { elicitation: {} } })
      expect(await say(asked)).not.toBe(plain)
      expect(await say(client)).toBe(plain)
    })

    it("is dropped when the tool's settings change", async () => {
      const { client, id } = await attach({ toolAnswers: { count: { cacheSeconds: 60, cacheShared: true } } })
      const first = await count(client)
      const response = { maxStringLength: 100 }
      await operator.expectOk('PATCH', `/upstreams/${id}`, {
        toolAnswers: { count: { cacheSeconds: 60, cacheShared: true, response } },
      })
      await expect.poll(async () => (await count(client)).texts).not.toEqual(first.texts)
    })

    it('requires the tool to be declared or marked read-only', async () => {
      const unsaid = await attach({ toolAnswers: { unsaid: { cacheSeconds: 60, cacheShared: true } } })
      const unkept = await count(unsaid.client, {}, 'unsaid')
      expect((await count(unsaid.client, {}, 'unsaid')).texts).not.toEqual(unkept.texts)
      const word = { cacheSeconds: 60, cacheShared: true, readOnly: true }
      await operator.expectOk('PATCH', `/upstreams/${unsaid.id}`, { toolAnswers: { unsaid: word } })
      await expect.poll(async () => isKept(unsaid.client)).toBe(true)
    })
  })
})
