import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callTexts, connect } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { databaseKinds } from '../../support/databases.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { type Asked, runScriptedUpstreams } from '../../upstreams/scripted-upstream.ts'
import { readCalls } from '../query/calls-world.ts'

const SECRET = 's3cret-value-1'
const LONG = 'a fairly long word '.repeat(10_000)
const STORED = 65_536

const TOOLS = [
  { name: 'order', method: 'POST', url: '/order?key={{key}}', body: '{"what": "{{what}}"}' },
  { name: 'long', method: 'POST', url: '/long', body: 'Note: {{string:text}}', headers: [] },
  { name: 'keyed', method: 'POST', url: '/keyed', body: '{"api_key": "{{api_key}}"}' },
  { name: 'picture', method: 'GET', url: '/picture' },
  { name: 'wrong', method: 'GET', url: '/wrong' },
  {
    name: 'cached',
    method: 'GET',
    url: '/cached',
    cacheSeconds: 60,
    cacheShared: true,
    annotations: { readOnlyHint: true },
  },
]

const Detail = z.looseObject({
  id: z.string(),
  request: z.object({ body: z.string().nullable() }).nullable(),
  curl: z.string().nullable(),
  requestBody: z.object({ text: z.string(), isCut: z.boolean() }).nullable(),
  responseBody: z.object({ text: z.string(), isCut: z.boolean() }).nullable(),
})

describe.each(databaseKinds)('the bodies of calls on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const ada = runUser(patchbay)
  const api = runFakeApi(({ url, body }, response) => {
    if (url === '/long') response.writeHead(200, { 'content-type': 'text/plain' }).end(LONG)
    else if (url === '/picture') response.writeHead(200, { 'content-type': 'image/png' }).end('not a text')
    else if (url === '/wrong') response.writeHead(500, { 'content-type': 'text/plain' }).end('Zucchini are sold out.')
    else answerJson(response, { heard: body, echo: SECRET, mail: 'ada@example.com', fruit: 'Ünïque Quince' })
  })
  const upstreams = runScriptedUpstreams({
    shop: {
      tools: () => [{ name: 'buy', inputSchema: { type: 'object' } }],
      result: (_asked: Asked) => JSON.stringify({ content: [{ type: 'text', text: `You bought ${SECRET} plums.` }] }),
    },
  })

  const make = async (server: Record<string, unknown> = { storesBodies: true }) => {
    const tools = TOOLS.map(tool => ({ ...tool, url: `${api.origin}${tool.url}` }))
    const made = await makeServer(ada, tools, { server: { masking: [{ kind: 'email' }], ...server } })
    await ada.expectOk('PUT', `/servers/${made.serverId}/globals/key`, { value: SECRET, secret: true })
    await ada.expectOk('PATCH', `/instances/${made.instanceIds.order}`, { bindings: { key: { source: 'server' } } })
    return { ...made, client: await connect(made.url) }
  }
  const list = async (serverId: string, query = '') => {
    await patchbay.services.recorder.flush()
    return readCalls(ada, `/servers/${serverId}/executions?${query}`)
  }
  const lastOf = async (serverId: string) => {
    const { items } = await list(serverId)
    return Detail.parse((await ada.expectOk('GET', `/executions/${items[0]?.id}`)).body)
  }
  const countBodies = (serverId: string) => patchbay.db.callBodies.count({ where: { execution: { serverId } } })

  it('are not stored unless the server stores them', async () => {
    const { client, serverId } = await make({})
    await callTexts(client, 'order', { what: 'apples' })
    const body = '{"what":"apples"}'
    const { request, ...call } = await lastOf(serverId)
    expect(call).toMatchObject({ requestBody: null, responseBody: null })
    expect(request?.body?.replaceAll(' ', '')).toBe(body)
    expect(await countBodies(serverId)).toBe(0)
  })

  it('are stored masked, and encrypted, and only with the call', async () => {
    const { client, serverId } = await make()
    await callTexts(client, 'order', { what: 'crimson pears' })
    const { requestBody, responseBody, request, curl } = await lastOf(serverId)
    expect(requestBody).toEqual({ text: expect.stringContaining('crimson pears'), isCut: false })
    expect(request?.body).toBe(requestBody?.text)
    expect(curl).toContain('crimson pears')
    expect(responseBody?.isCut).toBe(false)
    expect(JSON.parse(responseBody?.text ?? '')).toEqual({
      heard: requestBody?.text,
      echo: '•••',
      mail: '•••',
      fruit: 'Ünïque Quince',
    })
    const row = await patchbay.db.execution.findFirstOrThrow({ where: { serverId }, include: { bodies: true } })
    expect(row.request).not.toContain('crimson')
    expect(Buffer.from(row.bodies?.content ?? '', 'base64').toString('latin1')).not.toMatch(/crimson|Quince/)
    const { items } = await list(serverId)
    expect(JSON.stringify(items)).not.toContain('Quince')
  })

  it('do not contain secrets among the arguments, wherever the response repeats them', async () => {
    const { client, serverId } = await make()
    await callTexts(client, 'keyed', { api_key: 'given-by-the-caller-77' })
    const { responseBody, ...call } = await lastOf(serverId)
    expect(responseBody?.text).toContain('Quince')
    expect(JSON.stringify([responseBody, call])).not.toContain('given-by-the-caller')
  })

  it('are cut, and say so', async () => {
    const { client, serverId } = await make()
    await callTexts(client, 'long', { text: LONG })
    const { requestBody, responseBody, request } = await lastOf(serverId)
    const sent = `Note: ${LONG}`.slice(0, STORED)
    // Compared like this, a failure does not print the whole text.
    expect([requestBody?.text === sent, responseBody?.text === LONG.slice(0, STORED)]).toEqual([true, true])
    expect([requestBody?.isCut, responseBody?.isCut]).toEqual([true, true])
    expect(request?.body === `${sent}…`).toBe(true)
  })

  it('are those of errors too, and missing for what is no text and what was not received', async () => {
    const { client, serverId } = await make()
    await callTexts(client, 'wrong')
    expect(await lastOf(serverId)).toMatchObject({ responseBody: { text: 'Zucchini are sold out.' } })
    await callTexts(client, 'picture')
    expect(await lastOf(serverId)).toMatchObject({ requestBody: null, responseBody: null })
    await callTexts(client, 'cached')
    expect((await lastOf(serverId)).responseBody?.text).toContain('Quince')
    await callTexts(client, 'cached')
    expect(await lastOf(serverId)).toMatchObject({ answerAgeMs: expect.any(Number), responseBody: null })
  })

  it('are those of attached MCP servers as well', async () => {
    const { serverId, url } = await make()
    const { id } = await ada.create(`/servers/${serverId}/upstreams`, {
      name: 'up',
      transport: 'http',
      url: upstreams.urlOf('shop'),
    })
    await ada.expectOk('POST', `/upstreams/${id}/refresh`)
    await callTexts(await connect(url), 'up_buy', { colour: 'violet' })
    const { requestBody, responseBody } = await lastOf(serverId)
    expect(JSON.parse(requestBody?.text ?? '')).toEqual({ name: 'buy', arguments: { colour: 'violet' } })
    expect(JSON.parse(responseBody?.text ?? '')).toEqual({ content: [{ type: 'text', text: 'You bought ••• plums.' }] })
  })

  it('are found by text, whatever its case, also with other filters', async () => {
    const { client, serverId } = await make()
    await callTexts(client, 'order', { what: 'some' })
    await callTexts(client, 'wrong')
    const idsOf = async (query: string) => (await list(serverId, query)).items.map(({ tool }) => tool)
    expect(await idsOf('q=quince')).toEqual(['order'])
    expect(await idsOf(`q=${encodeURIComponent('ÜNÏQUE')}`)).toEqual(['order'])
    expect(await idsOf('q=zucchini')).toEqual(['wrong'])
    expect(await idsOf('q=quince&tool=wrong')).toEqual([])
    expect(await idsOf('q=quin_e')).toEqual([])
    expect(await idsOf(`q=${SECRET}`)).toEqual([])
    expect(await list(serverId, 'q=quince')).toMatchObject({ lookedUntil: null })
  })

  it('are deleted with their calls', async () => {
    const { client, serverId } = await make()
    for (const tool of ['wrong', 'order', 'order'])
      await callTexts(client, tool, tool === 'order' ? { what: 'it' } : {})
    expect((await list(serverId)).items).toHaveLength(3)
    expect(await countBodies(serverId)).toBe(3)
    await ada.expectOk('DELETE', `/servers/${serverId}/executions?q=zucchini`)
    expect(await countBodies(serverId)).toBe(2)
    const ids = (await list(serverId)).items.map(({ id }) => id)
    await ada.expectOk('DELETE', `/servers/${serverId}`)
    await expect.poll(() => patchbay.db.callBodies.count({ where: { executionId: { in: ids } } })).toBe(0)
  })

  it('stay when the server stops to store those of new calls, which is in the audit log', async () => {
    const { client, serverId } = await make()
    await callTexts(client, 'wrong')
    const first = await lastOf(serverId)
    await ada.expectOk('PATCH', `/servers/${serverId}`, { storesBodies: false })
    await callTexts(client, 'wrong')
    expect(await lastOf(serverId)).toMatchObject({ responseBody: null })
    const { body } = await ada.expectOk('GET', `/executions/${first.id}`)
    expect(body).toMatchObject({ responseBody: { text: 'Zucchini are sold out.' } })
    const entry = await patchbay.db.auditEntry.findFirstOrThrow({
      where: { action: 'server.bodies_changed', targetId: serverId },
    })
    expect(entry).toMatchObject({ change: { storesBodies: { from: true, to: false } } })
  })

  it('that were altered in the database count as missing', async () => {
    const { client, serverId } = await make()
    await callTexts(client, 'order', { what: 'one' })
    await callTexts(client, 'wrong')
    const wrong = await lastOf(serverId)
    const [other] = await patchbay.db.callBodies.findMany({
      where: { execution: { serverId }, executionId: { not: wrong.id } },
    })
    await patchbay.db.callBodies.update({ where: { executionId: wrong.id }, data: { content: other?.content ?? '' } })
    expect(await lastOf(serverId)).toMatchObject({ id: wrong.id, requestBody: null, responseBody: null })
    expect((await list(serverId, 'q=quince')).items).toHaveLength(1)
  })
})
