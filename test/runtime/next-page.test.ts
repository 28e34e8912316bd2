import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { cacheIdOf, callTexts, connect } from '../servers/mcp.ts'
import { makeServer } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const SECRET = 'k3y-with-many-letters'

type Reply = { link?: string | string[]; body?: unknown; status?: number; type?: string }

describe('results in pages', () => {
  const patchbay = runPatchbay()
  let reply: (url: string, headers: IncomingHttpHeaders) => Reply = () => ({})
  const fake = runFakeApi(({ url, headers }, response) => {
    const { link, body = { items: [1] }, status = 200, type } = reply(url, headers)
    if (link !== undefined) response.setHeader('link', link)
    if (type === undefined) answerJson(response, body, status)
    else response.writeHead(status, { 'content-type': type }).end(String(body))
  })
  const builder = runUser(patchbay)

  const serve = async (url: string, more: object = {}, options: Parameters<typeof makeServer>[2] = {}) => {
    const tool = { name: 'list', method: 'GET', url: `${fake.origin}${url}`, ...more }
    const made = await makeServer(builder, [tool], options)
    return { ...made, client: await connect(made.url) }
  }
  /** Returns the last text of the result, which is the line about the next page if there is one. */
  const call = async (url: string, args: Record<string, unknown> = {}, more: object = {}) => {
    const { client } = await serve(url, more)
    const { texts, isError } = await callTexts(client, 'list', args)
    expect(isError).toBe(false)
    return texts.length > 1 ? texts.at(-1) : undefined
  }

  it.each<[string, string, Record<string, unknown>, string | string[], string | undefined]>([
    ['in a link', '/items?page={{integer:page?}}', {}, '</items?page=2>; rel="next"', 'call again with {"page":2}.'],
    [
      'besides the same arguments',
      '/items?page={{integer:page?}}&q={{q?}}',
      { q: 'a b', page: 1 },
      '<https://api.example/items?q=a+b&page=2>; rel=next',
      'call again with the same arguments and {"page":2}.',
    ],
    [
      'at another path, as GitHub writes it',
      '/repos/{{owner}}/issues?page={{integer:page=1}}',
      { owner: 'ada' },
      '<https://api.example/repositories/7/issues?page=2>; rel="next", <x?page=9>; rel="last"',
      'call again with the same arguments and {"page":2}.',
    ],
    [
      'without an argument that the next page does not have',
      '/items?offset={{integer:offset?}}&after={{after?}}',
      { offset: 10 },
      '</items?after=xyz>; rel=next',
      'call again with {"after":"xyz"}, without "offset".',
    ],
    [
      'with more than the tool can send',
      '/items?page={{integer:page?}}',
      {},
      '</items?page=2&seed=7>; rel=next',
      'call again with {"page":2}. The API also asks for seed=7, which this tool cannot send.',
    ],
    [
      'as the second of two headers',
      '/items?p={{p?}}',
      {},
      ['</a>; rel=up', '</items?p=2>; rel="x next"'],
      '{"p":"2"}',
    ],
    [
      'for a parameter that is only a part of the value',
      '/items?page=p-{{page?}}',
      {},
      '</items?page=p-2>; rel=next',
      'this tool cannot ask for it: http://127.0.0.1:PORT/items?page=p-2',
    ],
    [
      'for no parameter',
      '/items',
      {},
      '</items?page_info=abc#top>; rel=next',
      'There is a next page, but this tool cannot ask for it: http://127.0.0.1:PORT/items?page_info=abc',
    ],
    ['in the path', '/items', {}, '</items/page/2>; rel=next', 'cannot ask for it: http://127.0.0.1:PORT/items/page/2'],
    ['not, for the same page', '/items?page={{page?}}', { page: '2' }, '</items?page=2>; rel=next', undefined],
    ['not, for another relation', '/items?page={{page?}}', {}, '</items?page=2>; rel="prev"; rel="next"', undefined],
    ['not, for another resource', '/items?page={{page?}}', {}, '</items?page=2>; rel=next; anchor="/other"', undefined],
    ['not, for another scheme', '/items?page={{page?}}', {}, '<mailto:a@example.com?page=2>; rel=next', undefined],
    ['not, for a malformed header', '/items?page={{page?}}', {}, '/items?page=2; rel=next', undefined],
  ])('say how to get the next one %s', async (_what, url, args, link, said) => {
    reply = () => ({ link })
    const line = (await call(url, args))?.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    if (said === undefined) expect(line).toBeUndefined()
    else expect(line).toContain(said)
  })

  it.each<[string, Record<string, unknown>, unknown, string | undefined]>([
    ['text', {}, { meta: { next: 'abc"\n' } }, 'Next page: call again with {"cursor":"abc\\"\\n"}.'],
    ['a number with many digits', {}, '{"meta":{"next":12345678901234567890}}', '{"cursor":"12345678901234567890"}'],
    ['the URL of the page', {}, { meta: { next: 'https://api.example/x?cursor=abc' } }, '{"cursor":"abc"}'],
    ['a URL that the API wants back', {}, { meta: { next: 'https://api.example/x' } }, '{"cursor":"https://api.ex'],
    ['a URL without a host', {}, { meta: { next: '/x?cursor=abc' } }, '{"cursor":"abc"}'],
    ['a query', {}, { meta: { next: '?cursor=abc' } }, '{"cursor":"abc"}'],
    ['a URL without a host, of another parameter', {}, { meta: { next: '/x?p=2' } }, 'cannot ask for it: http://127'],
    ['a URL without a host, of the same page', { cursor: 'a' }, { meta: { next: '/items?cursor=a' } }, undefined],
    ['a cursor that looks like a path', {}, { meta: { next: '/9j/4A==' } }, '{"cursor":"/9j/4A=="}'],
    ['none', {}, { meta: { next: null } }, undefined],
    ['an empty one', {}, { meta: { next: '' } }, undefined],
    ['that of the same page', { cursor: 'abc' }, { meta: { next: 'abc' } }, undefined],
    ['one that is far too long', {}, { meta: { next: 'x'.repeat(5_000) } }, undefined],
  ])('say how to get the next one by a cursor: %s', async (_what, args, body, said) => {
    reply = () => ({ body, ...(typeof body === 'string' && { type: 'application/json' }) })
    const pagination = { parameter: 'cursor', at: 'meta.next' }
    const line = await call('/items?cursor={{cursor?}}', args, { pagination })
    if (said === undefined) expect(line).toBeUndefined()
    else expect(line).toContain(said)
  })

  it('say how to get the next one by a path, as Twilio writes it', async () => {
    const path = '/2010-04-01/Accounts/AC1/Messages.json'
    const query = 'To=%2B123456789&DateSent%3E=2008-01-02&PageSize=2'
    const next = `${path}?${query}&Page=1&PageToken=PAMMc26223853f8c46b4ab7dfaa6abba0a26`
    reply = () => ({ body: { end: 1, first_page_uri: `${path}?${query}&Page=0`, next_page_uri: next, page: 0 } })
    const url = `/2010-04-01/Accounts/{{account}}/Messages.json?To={{To?}}&DateSent%3E={{DateSent?}}&PageSize={{integer:PageSize?}}&Page={{integer:Page?}}&PageToken={{PageToken?}}`
    const pagination = { parameter: 'PageToken', at: 'next_page_uri' }
    const args = { account: 'AC1', To: '+123456789', DateSent: '2008-01-02', PageSize: 2 }
    expect(await call(url, args, { pagination })).toBe(
      'Next page: call again with the same arguments and {"Page":1,"PageToken":"PAMMc26223853f8c46b4ab7dfaa6abba0a26"}.',
    )
    reply = () => ({ body: { next_page_uri: null } })
    expect(await call(url, args, { pagination })).toBeUndefined()
  })

  it('fall back to the Link header if the response has no cursor', async () => {
    reply = () => ({ link: '</items?cursor=abc>; rel=next' })
    const pagination = { parameter: 'cursor', at: 'meta.next' }
    expect(await call('/items?cursor={{cursor?}}', {}, { pagination })).toContain('{"cursor":"abc"}')
  })

  it('say nothing if the call fails', async () => {
    reply = () => ({ link: '</items?page=2>; rel=next', status: 500 })
    const { client } = await serve('/items?page={{page?}}')
    expect((await callTexts(client, 'list')).texts).toEqual([expect.stringMatching(/^HTTP 500/)])
  })

  it('never show a secret of the next URL, and need none for it', async () => {
    const bindings = { key: { source: 'server' } }
    const tool = { name: 'list', method: 'GET', url: `${fake.origin}/items?api_key={{key}}&page={{integer:page?}}` }
    const server = await builder.create('/servers', { name: 'Secret', access: 'public', maxResponseTokens: 0 })
    await builder.expectOk('PUT', `/servers/${server.id}/globals/key`, {
      value: SECRET,
      secret: true,
      origins: [fake.origin],
    })
    const toolkit = await builder.create('/toolkits', { title: 'Secret' })
    await builder.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
    const { id: toolId } = await builder.create(`/toolkits/${toolkit.id}/tools`, tool)
    await builder.create(`/servers/${server.id}/instances`, { toolId, name: 'list', bindings })
    const client = await connect(`${patchbay.origin}/s/${server.id}`)
    const last = async (link: string) => {
      reply = () => ({ link })
      return (await callTexts(client, 'list')).texts.at(-1)
    }
    expect(await last(`</items?api_key=${SECRET}&page=2>; rel=next`)).toBe('Next page: call again with {"page":2}.')
    expect(await last('</items?page=2>; rel=next')).toBe('Next page: call again with {"page":2}.')
    const hidden = [
      await last(`</items?api_key=${SECRET}&state=${SECRET}x>; rel=next`),
      await last(`</items/${SECRET}?access_token=other>; rel=next`),
      await last(`</items?page=2&access_token=other>; rel=next`),
    ]
    expect(hidden.map(line => line?.replaceAll(fake.origin, ''))).toEqual([
      'There is a next page, but this tool cannot ask for it: /items?api_key=•••&state=•••',
      'There is a next page, but this tool cannot ask for it: /items/•••?access_token=•••',
      'Next page: call again with {"page":2}. The API also asks for access_token=•••, which this tool cannot send.',
    ])
  })

  it('say so if the parameter has a fixed value', async () => {
    reply = () => ({ body: { next: 'abc' } })
    const { client } = await serve(
      '/items?cursor={{cursor?}}',
      { pagination: { parameter: 'cursor', at: 'next' } },
      { bindings: { list: { cursor: { source: 'instance', value: 'first' } } } },
    )
    expect((await callTexts(client, 'list')).texts.at(-1)).toBe(
      'There is a next page, but this tool cannot ask for it: "cursor" is not one of its arguments.',
    )
  })

  it.each([
    ['a text of several kilobytes', 'x'.repeat(20_000), 'text/plain'],
    ['a large JSON', JSON.stringify({ items: 'y'.repeat(400_000), next: 'abc' }), 'application/json'],
  ])('say it after the whole result: %s', async (_what, body, type) => {
    reply = () => ({ body, type, link: '</items?cursor=abc>; rel=next' })
    const { client } = await serve('/items?cursor={{cursor?}}', { pagination: { parameter: 'cursor', at: 'next' } })
    const { texts } = await callTexts(client, 'list')
    expect(texts).toEqual([body, 'Next page: call again with {"cursor":"abc"}.'])
  })

  it('say it also after a cut result, whose rest stays JSON', async () => {
    const items = Array.from({ length: 500 }, (_, id) => ({ id, name: `item ${id}` }))
    reply = () => ({ body: { items }, link: '</items?page=2>; rel=next' })
    const { client } = await serve('/items?page={{integer:page?}}', {}, { server: { maxResponseTokens: 400 } })
    const { texts, meta } = await callTexts(client, 'list')
    expect(texts[0]).toMatch(/^Cut: /)
    expect(texts.at(-1)).toBe('Next page: call again with {"page":2}.')
    const rest = await callTexts(client, 'proxy_filter', { cache_id: cacheIdOf(meta), fields: ['items[499].name'] })
    expect(rest.text).toContain('item 499')
    expect(rest.text).not.toContain('Next page')
  })

  it('leave the structured content as it is', async () => {
    reply = () => ({ link: '</items?page=2>; rel=next' })
    const outputSchema = { type: 'object', properties: { items: { type: 'array' } }, additionalProperties: false }
    const { client } = await serve('/items?page={{integer:page?}}', { outputSchema })
    await client.listTools()
    const { texts, structured } = await callTexts(client, 'list')
    expect([texts, structured]).toEqual([['{"items":[1]}', 'Next page: call again with {"page":2}.'], { items: [1] }])
  })

  it('say it also for a cached result', async () => {
    let requests = 0
    reply = () => {
      requests++
      return { link: '</items?page=2>; rel=next' }
    }
    const cached = { annotations: { readOnlyHint: true }, cacheSeconds: 60, cacheShared: true }
    const { client } = await serve('/items?page={{integer:page?}}', cached)
    const texts = [(await callTexts(client, 'list')).texts, (await callTexts(client, 'list')).texts]
    expect(texts[1]).toEqual(texts[0])
    expect(texts[1]?.at(-1)).toBe('Next page: call again with {"page":2}.')
    expect(requests).toBe(1)
  })

  it('say it to builders who try the tool', async () => {
    reply = () => ({ link: '</items?page=2>; rel=next' })
    const { toolIds, instanceIds } = await serve('/items?page={{integer:page?}}')
    const content = [{ text: '{"items":[1]}' }, { text: 'Next page: call again with {"page":2}.' }]
    const tried = await builder.expectOk('POST', `/tools/${toolIds.list}/test`, { arguments: {} })
    expect(tried.body).toMatchObject({ result: { content } })
    expect((await builder.expectOk('POST', `/instances/${instanceIds.list}/call`, {})).body).toMatchObject({ content })
  })

  it('need a parameter of the tool and a path to one value, which go when the parameter goes', async () => {
    const { id: toolkitId } = await builder.create('/toolkits', { title: 'Pages' })
    const tool = { name: 'list', method: 'GET', url: `${fake.origin}/items?cursor={{cursor?}}` }
    const refused = async (pagination: object) =>
      (await builder.send('POST', `/toolkits/${toolkitId}/tools`, { ...tool, pagination })).body
    expect(await refused({ parameter: 'page', at: 'next' })).toMatchObject({
      errors: [{ path: 'pagination.parameter', message: 'is not a parameter of the template' }],
    })
    const bound = { cursor: { binding: { source: 'server', key: 'cursor' } } }
    const withBound = { ...tool, parameters: bound, pagination: { parameter: 'cursor', at: 'next' } }
    expect((await builder.send('POST', `/toolkits/${toolkitId}/tools`, withBound)).body).toMatchObject({
      errors: [{ path: 'pagination.parameter', message: expect.stringContaining('from the model') }],
    })
    expect(await refused({ parameter: 'cursor', at: 'items[].next' })).toMatchObject({
      errors: [{ path: 'pagination.at', message: 'must lead to one value, without [] or *' }],
    })
    const pagination = { parameter: 'cursor', at: 'meta["next.cursor"]' }
    const { id } = await builder.create(`/toolkits/${toolkitId}/tools`, { ...tool, pagination })
    expect((await builder.expectOk('GET', `/tools/${id}`)).body).toMatchObject({ pagination })
    await builder.expectOk('PATCH', `/tools/${id}`, { url: `${fake.origin}/items` })
    expect((await builder.expectOk('GET', `/tools/${id}`)).body).toMatchObject({ pagination: null })
  })
})
