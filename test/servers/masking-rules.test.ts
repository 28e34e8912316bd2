import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { answerJson } from '../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { callTexts, connect } from './mcp.ts'

const MASKING = [{ kind: 'email' }, { kind: 'phone' }, { kind: 'card' }, { kind: 'pattern', pattern: 'EMP-\\d{6}' }]
const PERSON = { id: 7, email: 'ada@example.com', phone: '+49 30 123456', card: 4111111111111111, staff: 'EMP-123456' }
const MASKED = { id: 7, email: '•••', phone: '•••', card: '•••', staff: '•••' }
const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'integer' }, email: { type: 'string' }, card: { type: 'integer' } },
  required: ['id', 'card'],
}
const PEOPLE = Array.from({ length: 20_000 }, (_, id) => ({ ...PERSON, id }))

const Executions = z.object({ items: z.array(z.object({ id: z.string() })) })

describe.each(databasesOfRun)('masking rules of a server on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const ada = runUser(patchbay)
  let calls = 0
  const api = runFakeApi(({ url, body }, response) => {
    calls++
    if (url === '/fails') response.writeHead(400, 'No ada@example.com').end('Ask bob@example.com about EMP-123456.')
    else if (url === '/echo') response.writeHead(200, { 'content-type': 'text/plain' }).end(body)
    else if (url === '/picture') response.writeHead(200, { 'content-type': 'image/png' }).end('4111111111111111')
    else answerJson(response, url === '/people' ? PEOPLE : { ...PERSON, ...(url === '/wrong' && { id: 'seven' }) })
  })

  const make = async (tools: Record<string, object>, masking: unknown = MASKING) => {
    const named = Object.entries(tools).map(([name, more]) => ({
      name,
      method: 'GET',
      url: `${api.origin}/${name}`,
      ...more,
    }))
    const made = await makeServer(ada, named)
    await ada.expectOk('PATCH', `/servers/${made.serverId}`, { masking, access: 'public', maxResponseTokens: 0 })
    return { ...made, client: await connect(made.url) }
  }
  const historyOf = async (serverId: string) => {
    const { items } = Executions.parse((await ada.expectOk('GET', `/servers/${serverId}/executions`)).body)
    return (await ada.expectOk('GET', `/executions/${items[0]?.id}`)).body
  }

  it('are set on creation, and replaced as a whole', async () => {
    const plain = await ada.create('/servers', { name: 'Plain' })
    expect(plain).toMatchObject({ masking: [] })
    const made = await ada.create('/servers', { name: 'Masked', masking: MASKING })
    expect(made).toMatchObject({ masking: MASKING })
    await ada.expectOk('PATCH', `/servers/${made.id}`, { name: 'Renamed' })
    expect((await ada.send('GET', `/servers/${made.id}`)).body).toMatchObject({ masking: MASKING })
    await ada.expectOk('PATCH', `/servers/${made.id}`, { masking: [{ kind: 'card' }] })
    expect((await ada.send('GET', `/servers/${made.id}`)).body).toMatchObject({ masking: [{ kind: 'card' }] })
  })

  it.each([
    ['an unknown kind', [{ kind: 'iban' }], 'masking[0].kind', /./],
    ['a pattern without text', [{ kind: 'pattern', pattern: '' }], 'masking[0].pattern', /is empty/],
    [
      'a pattern that is no expression',
      [{ kind: 'pattern', pattern: '(a' }],
      'masking[0].pattern',
      /missing closing \)/,
    ],
    ['a lookahead', [{ kind: 'pattern', pattern: 'a(?=b)' }], 'masking[0].pattern', /^Lookaheads .* not supported/],
    ['a pattern that matches nothing', [{ kind: 'pattern', pattern: 'x*' }], 'masking[0].pattern', /empty text/],
    ['a pattern too large', [{ kind: 'pattern', pattern: '(\\w{1,99}x){9}' }], 'masking[0].pattern', /too large/],
    ['the same rule twice', [{ kind: 'card' }, { kind: 'card' }], 'masking[1]', /same as an earlier rule/],
    [
      'too many patterns',
      Array.from({ length: 21 }, (_, n) => ({ kind: 'pattern', pattern: `x${n}` })),
      'masking',
      /more than 20 patterns/,
    ],
    ['no list', 'email', 'masking', /./],
  ])('are refused with %s, and stay as they were', async (_what, masking, path, message) => {
    const { id } = await ada.create('/servers', { name: 'Refused', masking: [{ kind: 'email' }] })
    const refused = await ada.send('PATCH', `/servers/${id}`, { masking })
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ path, message: expect.stringMatching(message) }] },
    })
    expect((await ada.send('GET', `/servers/${id}`)).body).toMatchObject({ masking: [{ kind: 'email' }] })
  })

  it('are refused on a passthrough server, whichever comes first', async () => {
    const passing = { name: 'Passing', presentation: 'passthrough' }
    const message = 'must be empty on a passthrough server, which sends results on unchanged'
    const refused = { status: 409, body: { errors: [{ path: 'masking', message }] } }
    expect(await ada.send('POST', '/servers', { ...passing, masking: MASKING })).toMatchObject(refused)
    const { id } = await ada.create('/servers', passing)
    expect(await ada.send('PATCH', `/servers/${id}`, { masking: MASKING })).toMatchObject(refused)
    const masked = await ada.create('/servers', { name: 'Masked', masking: MASKING })
    const turned = await ada.send('PATCH', `/servers/${masked.id}`, { presentation: 'passthrough' })
    expect(turned).toMatchObject({ status: 409, body: { errors: [{ path: 'presentation' }] } })
    await ada.expectOk('PATCH', `/servers/${masked.id}`, { presentation: 'passthrough', masking: [] })
  })

  it('mask results, also of tools with shaping, and keep JSON', async () => {
    const { client } = await make({ person: {}, shaped: { response: { dropFields: ['staff'] } } })
    expect(JSON.parse((await callTexts(client, 'person')).text)).toEqual(MASKED)
    const { staff: _, ...rest } = MASKED
    expect(JSON.parse((await callTexts(client, 'shaped')).text)).toEqual(rest)
  })

  it('mask a result of 2 MB', async () => {
    const { client } = await make({ people: {} })
    const { text } = await callTexts(client, 'people')
    expect(JSON.parse(text)).toEqual(PEOPLE.map(({ id }) => ({ ...MASKED, id })))
  })

  it('leave out a member of structured content that the schema would refuse, and only that', async () => {
    const { client, serverId } = await make({ person: { outputSchema: SCHEMA }, wrong: { outputSchema: SCHEMA } })
    await client.listTools()
    const { structured, text } = await callTexts(client, 'person')
    const { card: _, ...rest } = MASKED
    expect(structured).toEqual(rest)
    expect(JSON.parse(text)).toEqual(MASKED)
    expect(await historyOf(serverId)).toMatchObject({ result: 'success', schemaMismatch: null })
    await callTexts(client, 'wrong')
    expect(await historyOf(serverId)).toMatchObject({ schemaMismatch: expect.stringContaining('id must be integer') })
  })

  it('leave out the same members of a shaped result, and the history reports only what the API does otherwise', async () => {
    const shaped = { outputSchema: SCHEMA, response: { dropFields: ['phone'] } }
    const { client, serverId } = await make({ person: shaped, wrong: shaped })
    const { structured } = await callTexts(client, 'person')
    expect(structured).toEqual({ id: 7, email: '•••', staff: '•••' })
    expect(await historyOf(serverId)).toMatchObject({ result: 'success', schemaMismatch: null })
    await callTexts(client, 'wrong')
    expect(await historyOf(serverId)).toMatchObject({ schemaMismatch: 'id must be integer' })
  })

  it('mask errors, for the client and in the history', async () => {
    const { client, serverId } = await make({ fails: {} })
    const said = 'HTTP 400 No •••\nAsk ••• about •••.'
    expect(await callTexts(client, 'fails')).toMatchObject({ isError: true, text: said })
    expect(await historyOf(serverId)).toMatchObject({ error: said })
  })

  it('mask the request and the arguments in the history, but not what is sent', async () => {
    const body = 'Mail to {{string:to}}'
    const { client, serverId } = await make({ echo: { method: 'POST', body, headers: [] } }, [{ kind: 'card' }])
    const sent = await callTexts(client, 'echo', { to: 'ada@example.com 4111 1111 1111 1111' })
    expect(sent.text).toBe('Mail to ada@example.com •••')
    expect(api.seen.at(-1)?.body).toBe('Mail to ada@example.com 4111 1111 1111 1111')
    const stored = JSON.stringify(await historyOf(serverId))
    expect(stored).toContain('Mail to ada@example.com •••')
    expect(stored).not.toContain('4111 1111')
  })

  it('do not touch images', async () => {
    const { client } = await make({ picture: {} })
    const { content } = await callTexts(client, 'picture')
    expect(content).toMatchObject([{ type: 'image', data: Buffer.from('4111111111111111').toString('base64') }])
  })

  it('apply to cached results from the next call, whenever they change', async () => {
    const cached = { cacheSeconds: 60, cacheShared: true, annotations: { readOnlyHint: true } }
    const { client, serverId } = await make({ person: cached }, [])
    expect(JSON.parse((await callTexts(client, 'person')).text)).toEqual(PERSON)
    const before = calls
    await ada.expectOk('PATCH', `/servers/${serverId}`, { masking: MASKING })
    expect(JSON.parse((await callTexts(client, 'person')).text)).toEqual(MASKED)
    expect(JSON.parse((await callTexts(client, 'person')).text)).toEqual(MASKED)
    expect(calls).toBe(before + 1)
  })

  it('are in the audit log when they change', async () => {
    const { id } = await ada.create('/servers', { name: 'Audited', masking: [{ kind: 'email' }] })
    await ada.expectOk('PATCH', `/servers/${id}`, { masking: MASKING })
    const { db } = patchbay.services
    const entry = await db.auditEntry.findFirstOrThrow({ where: { action: 'server.masking_changed', targetId: id } })
    expect(entry).toMatchObject({ change: { masking: { from: [{ kind: 'email' }], to: MASKING } } })
  })
})
