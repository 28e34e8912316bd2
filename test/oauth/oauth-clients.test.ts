import { hash, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { knock } from '../mcp/messages.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { withoutRequestId } from '../support/without-request-id.ts'
import { runPatchbay } from '../support/world.ts'
import { exchange, makeRequest, obtainCode, postForm, type Request, refresh, tokensOf } from './support/client.ts'
import { createVisitor } from './support/visitor.ts'

const View = z.strictObject({
  id: z.uuid(),
  organizationId: z.uuid(),
  clientId: z.uuid(),
  name: z.string(),
  redirectUris: z.array(z.string()),
  tokenEndpointAuthMethod: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
const NewView = View.extend({ clientSecret: z.string().optional() })

const CALLBACK = 'https://app.example.com/callback'

/** Returns the form fields for a client that authenticates in the header. */
const formOf = (code: string, { verifier, parameters }: Request) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: verifier,
  redirect_uri: CALLBACK,
  resource: parameters.resource ?? '',
})

describe.each(databasesOfRun)('manually registered clients on $kind', kind => {
  let ada: ApiClient & { userId: string; email: string }
  let eve: ApiClient & { userId: string }
  let organizationId: string
  let url: string

  const patchbay = runPatchbay({ kind })
  beforeAll(async () => {
    ;[ada, eve] = [await signUp(patchbay.origin), await signUp(patchbay.origin)]
    const { db } = patchbay.services
    organizationId = (await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })).organizationId
    url = `${patchbay.origin}/s/${(await ada.create('/servers', { name: 'Desk' })).id}`
  })

  const register = async (body: Record<string, unknown> = {}) => {
    const wish = { name: 'Dispatch', redirectUris: [CALLBACK], ...body }
    const made = await ada.expectOk('POST', `/organizations/${organizationId}/oauth-clients`, wish)
    return NewView.parse(made.body)
  }
  const entriesOf = async (targetId: string) =>
    patchbay.services.db.auditEntry.findMany({ where: { targetId }, orderBy: { id: 'asc' } })

  it('are public by default; others have a secret that is shown once and stored sealed', async () => {
    const open = await register()
    expect(open).toMatchObject({ organizationId, name: 'Dispatch', redirectUris: [CALLBACK] })
    expect([open.tokenEndpointAuthMethod, open.clientSecret]).toEqual(['none', undefined])
    const closed = await register({ tokenEndpointAuthMethod: 'client_secret_post' })
    expect(closed.clientSecret).toMatch(/^[\w-]{43}$/)
    const secret = closed.clientSecret ?? ''
    const again = await ada.expectOk('GET', `/oauth-clients/${closed.id}`)
    expect(View.parse(again.body)).toMatchObject({ clientId: closed.clientId })
    const row = await patchbay.services.db.oAuthClient.findUniqueOrThrow({ where: { id: closed.id } })
    const stored = JSON.stringify([row, await entriesOf(closed.id)])
    for (const form of [secret, Buffer.from(secret).toString('base64'), hash('sha256', secret)]) {
      expect(stored).not.toContain(form)
    }
  })

  it.each(['none', 'client_secret_post', 'client_secret_basic'])(
    'get tokens only with %s authentication; all tokens end with the client',
    async method => {
      const { origin } = patchbay
      const client = await register({ tokenEndpointAuthMethod: method, name: `By ${method}` })
      const { clientId, clientSecret = '' } = client
      const visitor = createVisitor(origin)
      await visitor.signIn(ada.email)
      const request = makeRequest(clientId, url, { redirect_uri: CALLBACK })
      if (method !== 'none') {
        const refused = await exchange(origin, await obtainCode(visitor, origin, request), request)
        expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
      }
      const code = await obtainCode(visitor, origin, request)
      const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
      const answer =
        method === 'client_secret_basic'
          ? await postForm(origin, '/oauth/token', formOf(code, request), { authorization: `Basic ${basic}` })
          : await exchange(origin, code, request, method === 'none' ? {} : { client_secret: clientSecret })
      const tokens = tokensOf(answer)
      expect(await knock(url, tokens.access_token)).toBe(200)
      await ada.expectOk('DELETE', `/oauth-clients/${client.id}`)
      expect(await knock(url, tokens.access_token)).toBe(401)
      expect((await refresh(origin, clientId, tokens.refresh_token)).status).toBeGreaterThanOrEqual(400)
      expect(await patchbay.services.db.oAuthArtifact.count({ where: { clientId } })).toBe(0)
      const entries = await entriesOf(client.id)
      expect(entries.map(({ action }) => action)).toEqual(['oauth_client.created', 'oauth_client.removed'])
      expect(entries.at(-1)).toMatchObject({
        organizationId,
        actorId: ada.userId,
        targetName: `By ${method}`,
        change: { clientId, endedGrants: 1 },
      })
    },
  )

  it('lose all access when their organization is removed, whichever server it was for', async () => {
    const { origin } = patchbay
    const { id } = await ada.create('/organizations', { name: 'Short-lived' })
    const wish = { name: 'Dispatch', redirectUris: [CALLBACK] }
    const { clientId } = NewView.parse((await ada.expectOk('POST', `/organizations/${id}/oauth-clients`, wish)).body)
    const guest = await signUp(origin)
    const elsewhere = `${origin}/s/${(await guest.create('/servers', { name: 'Of a guest' })).id}`
    const visitor = createVisitor(origin)
    await visitor.signIn(guest.email)
    const request = makeRequest(clientId, elsewhere, { redirect_uri: CALLBACK })
    const tokens = tokensOf(await exchange(origin, await obtainCode(visitor, origin, request), request))
    expect(await knock(elsewhere, tokens.access_token)).toBe(200)
    await ada.expectOk('DELETE', `/organizations/${id}`, { confirm: 'Short-lived' })
    expect(await knock(elsewhere, tokens.access_token)).toBe(401)
    expect(await patchbay.services.db.oAuthArtifact.count({ where: { clientId } })).toBe(0)
  })

  it('are only redirected to their current redirect URIs', async () => {
    const client = await register()
    const moved = 'https://app.example.com/other'
    const changed = await ada.expectOk('PATCH', `/oauth-clients/${client.id}`, { redirectUris: [moved], name: 'Moved' })
    expect(View.parse(changed.body)).toMatchObject({ name: 'Moved', redirectUris: [moved], clientId: client.clientId })
    const visitor = createVisitor(patchbay.origin)
    await visitor.signIn(ada.email)
    const before = makeRequest(client.clientId, url, { redirect_uri: CALLBACK })
    await expect(obtainCode(visitor, patchbay.origin, before)).rejects.toThrow()
    const after = makeRequest(client.clientId, url, { redirect_uri: moved })
    expect(await obtainCode(visitor, patchbay.origin, after)).not.toBe('')
    expect((await entriesOf(client.id)).at(-1)).toMatchObject({
      action: 'oauth_client.changed',
      change: {
        name: { from: 'Dispatch', to: 'Moved' },
        redirectUris: { from: [CALLBACK], to: [moved] },
      },
    })
  })

  it('accept every kind of redirect URI that self-registered clients may have', async () => {
    const redirectUris = [CALLBACK, 'http://127.0.0.1/callback', 'http://localhost:3000/cb', 'cursor://anysphere/cb']
    expect((await register({ redirectUris })).redirectUris).toEqual(redirectUris)
  })

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'http://app.example.com/callback',
    'https://app.example.com/callback#x',
    'https://user:pass@app.example.com/callback',
    'https://app.example.com/call back',
    '/callback',
    '',
  ])('reject redirect URIs such as %j', async uri => {
    const { status, body } = await ada.send('POST', `/organizations/${organizationId}/oauth-clients`, {
      name: 'x',
      redirectUris: [CALLBACK, uri],
    })
    expect([status, body]).toMatchObject([400, { errors: [{ path: 'redirectUris[1]' }] }])
  })

  it.each([
    [{ redirectUris: [CALLBACK] }, 'name'],
    [{ name: ' ', redirectUris: [CALLBACK] }, 'name'],
    [{ name: '\u200b', redirectUris: [CALLBACK] }, 'name'],
    [{ name: 'x'.repeat(81), redirectUris: [CALLBACK] }, 'name'],
    [{ name: 'x' }, 'redirectUris'],
    [{ name: 'x', redirectUris: [] }, 'redirectUris'],
    [{ name: 'x', redirectUris: Array(21).fill(CALLBACK) }, 'redirectUris'],
    [{ name: 'x', redirectUris: [CALLBACK], tokenEndpointAuthMethod: 'private_key_jwt' }, 'tokenEndpointAuthMethod'],
  ])('report what is wrong with %j', async (body, path) => {
    const answer = await ada.send('POST', `/organizations/${organizationId}/oauth-clients`, body)
    expect([answer.status, answer.body]).toMatchObject([400, { errors: [{ path }] }])
  })

  it('accept read-only fields only if they are unchanged', async () => {
    const client = await register()
    const { clientSecret: _, ...view } = client
    const same = await ada.expectOk('PATCH', `/oauth-clients/${client.id}`, { ...view, name: 'Renamed' })
    expect(View.parse(same.body).name).toBe('Renamed')
    for (const change of [{ clientId: randomUUID() }, { tokenEndpointAuthMethod: 'client_secret_post' }]) {
      expect((await ada.send('PATCH', `/oauth-clients/${client.id}`, change)).status).toBe(400)
    }
  })

  it('are managed by admins of their organization, and hidden from others', async () => {
    const client = await register()
    const { db } = patchbay.services
    const builder = await signUp(patchbay.origin)
    await db.membership.create({ data: { organizationId, userId: builder.userId, role: 'builder' } })
    const list = `/organizations/${organizationId}/oauth-clients`
    for (const [method, path, body] of [
      ['GET', list, undefined],
      ['POST', list, { name: 'x', redirectUris: [CALLBACK] }],
      ['GET', `/oauth-clients/${client.id}`, undefined],
      ['PATCH', `/oauth-clients/${client.id}`, { name: 'x' }],
      ['DELETE', `/oauth-clients/${client.id}`, undefined],
    ] as const) {
      const foreign = await eve.send(method, path, body)
      const absent = await eve.send(method, path.replace(/[0-9a-f-]{36}/, randomUUID()), body)
      expect([foreign.status, withoutRequestId(foreign.body)]).toEqual([404, withoutRequestId(absent.body)])
      expect((await builder.send(method, path, body)).status).toBe(403)
    }
    const { items } = z.object({ items: z.array(View) }).parse((await ada.expectOk('GET', list)).body)
    expect(items.map(({ id }) => id)).toContain(client.id)
  })

  it('that registered themselves are not listed for anybody', async () => {
    const { db } = patchbay.services
    const metadata = { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }
    const { id } = await db.oAuthClient.create({ data: { clientId: randomUUID(), metadata } })
    for (const method of ['GET', 'DELETE']) {
      expect((await ada.send(method, `/oauth-clients/${id}`)).status).toBe(404)
    }
  })
})
