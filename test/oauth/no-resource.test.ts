import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { knock } from '../mcp/messages.ts'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import {
  answerConsent,
  authorizeUrl,
  CALLBACK,
  exchange,
  makeRequest,
  openConsent,
  type Request,
  readCallback,
  refresh,
  registerClient,
  tokensOf,
} from './support/client.ts'
import { createMemory, SDK_CLIENTS } from './support/sdk-clients.ts'
import { createVisitor, fieldsOf, type Page, type Visitor } from './support/visitor.ts'
import { runOAuthWorld } from './support/world.ts'

const idOf = (serverUrl: string): string => serverUrl.split('/').at(-1) ?? ''

/** Returns the ids of the servers that a page offers. */
const offeredOn = ({ text }: Page): string[] =>
  [...text.matchAll(/<input type="radio" name="server" value="([^"]*)"/g)].map(([, id = '']) => id)

/** Submits one of the page's forms, with more fields. */
const submit = (visitor: Visitor, page: Page, more: Record<string, string>): Promise<Page> => {
  const { action, fields } = fieldsOf(page, '/oauth/authorize')
  return visitor.get(`${action}?${new URLSearchParams({ ...fields, ...more })}`)
}

const choose = (visitor: Visitor, page: Page, server: string): Promise<Page> =>
  submit(visitor, page, { server, answer: 'yes' })

const search = (visitor: Visitor, page: Page, q: string): Promise<Page> => submit(visitor, page, { q })

const NewClient = z.object({ clientId: z.string() })

describe.each(databasesOfRun)('a client that sends no resource, on $kind', kind => {
  const world = runOAuthWorld({ kind })
  let clientId: string
  let organizationId: string
  beforeAll(async () => {
    clientId = (await registerClient(world.origin, { client_name: 'Old client' })).client_id
    const membership = await world.db.membership.findFirstOrThrow({ where: { userId: world.owner.userId } })
    organizationId = membership.organizationId
  })

  const request = (changes: Record<string, string | undefined> = {}): Request =>
    makeRequest(clientId, '', { resource: undefined, ...changes })
  const open = (visitor: Visitor, changes?: Record<string, string | undefined>): Promise<Page> =>
    openConsent(visitor, world.origin, request(changes))
  const visitAs = async (email: string): Promise<Visitor> => {
    const visitor = createVisitor(world.origin)
    await visitor.signIn(email)
    return visitor
  }

  it('has its user choose the server, and needs no resource for its code and its refresh token either', async () => {
    const { visitor, origin, serverUrl } = world
    const other = await world.makeServer({ name: 'Another desk' })
    const asked = request({ redirect_uri: 'http://127.0.0.1:4711/callback' })
    const page = await openConsent(visitor, origin, asked)
    expect(page.text).toContain('Choose the server whose address you gave to Old client')
    expect(page.text).toContain('<code>127.0.0.1:4711</code>')
    expect(page.text).toContain(world.owner.email)
    expect(offeredOn(page)).toEqual([idOf(other), idOf(serverUrl)])
    expect(page.text).not.toContain('checked')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toContain("form-action 'self' http://127.0.0.1:4711")

    const consent = await choose(visitor, page, idOf(serverUrl))
    expect(consent.text).toContain('Let Old client use Shipment desk?')
    const code = readCallback(await answerConsent(visitor, consent, 'yes')).get('code') ?? ''
    const tokens = tokensOf(await exchange(origin, code, asked))
    expect(await knock(serverUrl, tokens.access_token)).toBe(200)
    expect(await knock(other, tokens.access_token)).toBe(401)
    const elsewhere = await refresh(origin, clientId, tokens.refresh_token, { resource: other })
    expect(elsewhere).toMatchObject({ status: 400, body: { error: 'invalid_target' } })
    const renewed = tokensOf(await refresh(origin, clientId, tokens.refresh_token))
    expect(await knock(serverUrl, renewed.access_token)).toBe(200)
    const grants = await world.db.oAuthArtifact.findMany({ where: { kind: 'Grant', clientId } })
    expect(grants.map(({ serverId }) => serverId)).toEqual([idOf(serverUrl)])
  })

  it('is offered only the servers that its user may use', async () => {
    const shared = await world.makeServer({ name: 'Shared desk', access: 'organization' })
    const guest = await world.person()
    const allowed = await world.makeServer({ name: 'Desk of a guest', allowedUsers: [guest.userId] })
    const publicDesk = await world.makeServer({ name: 'Public desk', access: 'public' })
    const removed = await world.makeServer({ name: 'Old desk' })
    await world.owner.expectOk('DELETE', `/servers/${idOf(removed)}`)

    const member = await visitAs((await world.member(organizationId, 'builder')).email)
    expect(offeredOn(await open(member))).toEqual([publicDesk, shared].map(idOf))
    const guests = await visitAs(guest.email)
    const page = await open(guests)
    expect(offeredOn(page)).toEqual([idOf(allowed)])
    // A public server of another organization is found only by its address.
    expect(offeredOn(await search(guests, page, 'Public desk'))).toEqual([])
    expect(offeredOn(await search(guests, page, publicDesk))).toEqual([idOf(publicDesk)])
    expect(offeredOn(await search(guests, page, idOf(shared)))).toEqual([])
    const nobody = await world.visit(`nobody-${randomUUID()}@example.com`)
    expect((await open(nobody)).text).toContain('You cannot use any server here')
  })

  it('is refused a server that its user may not use like one that does not exist', async () => {
    const stranger = await world.visit(`stranger-${randomUUID()}@example.com`)
    const page = await open(stranger)
    const codes = () => world.db.oAuthArtifact.count({ where: { kind: 'AuthorizationCode' } })
    const before = await codes()
    const shown: string[] = []
    for (const server of [idOf(world.serverUrl), randomUUID(), 'nothing', world.serverUrl]) {
      const refused = await choose(stranger, page, server)
      expect(refused.status).toBe(404)
      expect(refused.text).toContain('There is no such server, or you may not use it.')
      expect(refused.text).not.toContain('Shipment desk')
      shown.push(/<main.*<\/main>/s.exec(refused.text)?.[0].replace(/name="_csrf" value="[^"]*"/g, '') ?? '')
    }
    expect(new Set(shown).size).toBe(1)
    expect(await choose(stranger, page, '')).toMatchObject({ status: 400 })
    expect(await codes()).toBe(before)
  })

  it('is refused a server that its user could use when the page was opened', async () => {
    const url = await world.makeServer({ name: 'Moody desk', access: 'public' })
    const guest = await world.visit(`moody-${randomUUID()}@example.com`)
    const page = await search(guest, await open(guest), url)
    expect(offeredOn(page)).toEqual([idOf(url)])
    await world.owner.expectOk('PATCH', `/servers/${idOf(url)}`, { access: 'private' })
    const refused = await choose(guest, page, idOf(url))
    expect(refused.status).toBe(404)
    expect(refused.text).not.toContain('Moody desk')
  })

  it('has its user search among many servers, page by page', async () => {
    const user = await world.person()
    const visitor = await visitAs(user.email)
    const data = Array.from({ length: 300 }, (_, index) => ({
      name: `Depot ${String(index).padStart(4, '0')}`,
      organizationId: user.organizationId,
      ownerId: user.userId,
    }))
    await world.db.server.createMany({ data })
    const first = await open(visitor)
    expect(offeredOn(first)).toHaveLength(20)
    expect(first.text).toContain('Depot 0000')
    const [, more = ''] = /rel="next" href="([^"]*)"/.exec(first.text) ?? []
    const second = await visitor.get(more.replaceAll('&amp;', '&'))
    expect(second.text).toContain('Depot 0020')
    expect(second.text).toContain('Depot 0039')
    expect(offeredOn(second)).toHaveLength(20)
    const found = await search(visitor, second, 'depot 0241')
    expect(offeredOn(found)).toHaveLength(1)
    const consent = await choose(visitor, found, offeredOn(found)[0] ?? '')
    expect(consent.text).toContain('Let Old client use Depot 0241?')
    expect((await search(visitor, first, 'no such depot')).text).toContain('No server that you can use matches')
    expect((await submit(visitor, first, { cursor: 'forged' })).status).toBe(400)
  })

  it('may send a request of the maximum length, which searching and choosing make longer', async () => {
    const room = 4_096 - `${new URL(authorizeUrl(world.origin, request({ state: 'x' })))}`.length
    const page = await open(world.visitor, { state: 'x'.repeat(room) })
    const found = await search(world.visitor, page, 'y'.repeat(200))
    expect(found.text).toContain('No server that you can use matches')
    expect((await choose(world.visitor, page, idOf(world.serverUrl))).text).toContain('use Shipment desk?')
  })

  it('learns that its user denied access', async () => {
    const page = await open(world.visitor, { state: 'kept' })
    const callback = readCallback(await submit(world.visitor, page, { answer: 'no' }))
    expect(Object.fromEntries(callback)).toEqual({
      error: 'access_denied',
      error_description: 'the user refused',
      state: 'kept',
      iss: world.origin,
    })
  })

  it('has its user sign in first, even to deny access', async () => {
    const nobody = createVisitor(world.origin)
    const asked = request()
    const signIn = await nobody.get(`${authorizeUrl(world.origin, asked)}&answer=no`)
    const { action, fields } = fieldsOf(signIn, '/sign-in')
    const password = 'correct horse battery staple'
    const page = await nobody.post(action, { ...fields, email: world.owner.email, password })
    expect(offeredOn(page)).toContain(idOf(world.serverUrl))
    const consent = await choose(nobody, page, idOf(world.serverUrl))
    expect(readCallback(await answerConsent(nobody, consent, 'yes')).get('state')).toBe(asked.parameters.state)
  })

  it.each([
    ['an empty resource', { resource: '' }],
    ['a prompt that allows no page', { prompt: 'none' }],
  ])('gets an error if it sends %s', async (_title, changes) => {
    const callback = readCallback(await open(world.visitor, changes))
    expect(callback.get('error')).toBe('invalid_target')
    expect(callback.get('error_description')).toContain('parameter resource (RFC 8707)')
  })

  it('has its user choose the server also if an organization registered it', async () => {
    const client = { name: 'By hand', redirectUris: [CALLBACK] }
    const made = await world.owner.expectOk('POST', `/organizations/${organizationId}/oauth-clients`, client)
    const page = await open(world.visitor, { client_id: NewClient.parse(made.body).clientId })
    expect(page.text).toContain('Choose the server whose address you gave to By hand')
    const consent = await choose(world.visitor, page, idOf(world.serverUrl))
    expect(readCallback(await answerConsent(world.visitor, consent, 'yes')).get('code')).toBeTruthy()
  })

  it('connects with the official SDK, told to send none as versions up to 1.12 do', async () => {
    const sdk = SDK_CLIENTS.find(({ name }) => name === 'SDK 1 over Streamable HTTP')
    if (sdk === undefined) throw new Error('the client is missing')
    const { url, serverId } = await makeServer(world.owner, [], { server: { access: 'private' } })
    const memory = createMemory()
    memory.provider.validateResourceURL = async () => undefined
    const attempt = sdk.open(url, memory)
    await expect(attempt.connect()).rejects.toThrow()
    const [authorize] = memory.sentTo
    expect(authorize?.searchParams.has('resource')).toBe(false)
    const page = await world.visitor.get(authorize?.href ?? '')
    const consent = await choose(world.visitor, page, serverId)
    await attempt.finish(readCallback(await answerConsent(world.visitor, consent, 'yes')))
    const connection = await sdk.open(url, memory).connect()
    expect(await connection.listTools()).toMatchObject({ tools: [] })
    await connection.close()
  })
})
