import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Scope } from '../../src/lib/kernel/actor.ts'
import { createApiClient, signUp } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { withoutRequestId } from '../support/without-request-id.ts'
import { anyDatabase, databasesOfRun, startApp } from './app.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const Made = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  scopes: z.array(z.string()),
  expiresAt: z.iso.datetime(),
  lastUsedAt: z.null(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  token: z.string(),
})

type Client = ReturnType<typeof createApiClient>

const makeToken = async (api: Client, wish: { scopes?: Scope[]; expiresInDays?: number } = {}) =>
  Made.parse((await api.expectOk('POST', '/tokens', { name: 'script', ...wish })).body)

describe.each(databasesOfRun)('a personal access token on $kind', database => {
  it('is shown once, valid for all scopes and ninety days, and stored as a hash', async () => {
    const { origin, services } = await startApp(database)
    const api = await signUp(origin)
    const made = await makeToken(api)
    expect(made.token).toMatch(/^pbk_[\w-]{43}$/)
    expect(made.scopes).toEqual(['read', 'write', 'mcp'])
    const lifetime = Date.parse(made.expiresAt) - Date.parse(made.createdAt)
    expect(Math.round(lifetime / DAY_MS)).toBe(90)
    expect((await createApiClient(origin, made.token).send('GET', '/me')).status).toBe(200)
    const { token, ...listed } = made
    const list = await api.expectOk('GET', '/tokens')
    expect(list.body).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ id: listed.id })]) })
    expect(JSON.stringify([list.body, await services.db.accessToken.findMany()])).not.toContain(token.slice(4))
  })

  it('records shortly afterwards when it was last used', async () => {
    const { origin } = await startApp(database)
    const api = await signUp(origin)
    const made = await makeToken(api)
    await createApiClient(origin, made.token).expectOk('GET', '/me')
    await expect
      .poll(async () => (await api.expectOk('GET', '/tokens')).body)
      .toMatchObject({ items: [{}, { id: made.id, lastUsedAt: expect.any(String) }] })
  })

  it('is rejected by the API and for MCP as soon as it is revoked', async () => {
    const { origin, services } = await startApp(database)
    const api = await signUp(origin)
    const made = await makeToken(api)
    expect(await services.accounts.verifyMcpToken(made.token)).toMatchObject({ userId: api.userId, tokenId: made.id })
    expect((await api.send('DELETE', `/tokens/${made.id}`)).status).toBe(204)
    expect((await createApiClient(origin, made.token).send('GET', '/me')).status).toBe(401)
    expect(await services.accounts.verifyMcpToken(made.token)).toBeUndefined()
    expect((await api.send('DELETE', `/tokens/${made.id}`)).status).toBe(404)
  })

  it('is rejected in every other process shortly after it is revoked', async () => {
    const first = await startApp(database)
    const second = await first.startAnother()
    const api = await signUp(first.origin)
    const made = await makeToken(api)
    expect(await second.services.accounts.verifyMcpToken(made.token)).toMatchObject({ tokenId: made.id })
    await api.expectOk('DELETE', `/tokens/${made.id}`)
    await expect.poll(() => second.services.accounts.verifyMcpToken(made.token), { timeout: 5_000 }).toBeUndefined()
  })

  it('is rejected as soon as it expires', async () => {
    const { origin, services } = await startApp(database)
    const made = await makeToken(await signUp(origin), { expiresInDays: 1 })
    await services.db.accessToken.updateMany({
      where: { id: made.id },
      data: { expiresAt: new Date(Date.now() + 300) },
    })
    expect(await services.accounts.verifyMcpToken(made.token)).toBeDefined()
    await expect.poll(() => services.accounts.verifyMcpToken(made.token)).toBeUndefined()
    expect((await createApiClient(origin, made.token).send('GET', '/me')).status).toBe(401)
  })

  it('is verified for MCP from the cache the second time, and distinguished from one without the scope', async () => {
    const { origin, services } = await startApp(database)
    const api = await signUp(origin)
    const me = z
      .object({ organizations: z.array(z.object({ id: z.string(), role: z.string() })) })
      .parse((await api.send('GET', '/me')).body)
    const made = await makeToken(api, { scopes: ['mcp'] })
    const caller = await services.accounts.verifyMcpToken(made.token)
    expect(caller).toEqual({
      userId: api.userId,
      tokenId: made.id,
      memberships: new Map(me.organizations.map(({ id, role }) => [id, role])),
      isForMcp: true,
      expiresAt: new Date(made.expiresAt),
    })
    expect(services.accounts.verifyMcpToken(made.token)).toBe(caller)
    expect(services.accounts.verifyMcpToken('pbk_short')).toBeUndefined()
    const readOnly = await makeToken(api, { scopes: ['read', 'write'] })
    expect(await services.accounts.verifyMcpToken(readOnly.token)).toMatchObject({ isForMcp: false })
  })

  it('of another user is not found', async () => {
    const { origin } = await startApp(database)
    const [ada, bob] = [await signUp(origin), await signUp(origin)]
    const made = await makeToken(ada)
    const foreign = await bob.send('DELETE', `/tokens/${made.id}`)
    const absent = await bob.send('DELETE', '/tokens/0190a5a0-0000-7000-8000-000000000000')
    expect([foreign.status, withoutRequestId(foreign.body)]).toEqual([404, withoutRequestId(absent.body)])
    expect((await createApiClient(origin, made.token).send('GET', '/me')).status).toBe(200)
    expect((await bob.send('GET', '/tokens')).body).toMatchObject({ items: [{ name: 'test' }] })
  })

  it('is listed page by page', async () => {
    const { origin } = await startApp(database)
    const api = await signUp(origin)
    for (let count = 0; count < 4; count++) await makeToken(api)
    const Page = z.object({ items: z.array(z.object({ id: z.string() })), nextCursor: z.string().nullable() })
    const seen: string[] = []
    let cursor: string | null = ''
    do {
      const page: z.infer<typeof Page> = Page.parse(
        (await api.expectOk('GET', `/tokens?limit=2${cursor && `&cursor=${cursor}`}`)).body,
      )
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(new Set(seen).size).toBe(5)
    expect(seen).toHaveLength(5)
  })
})

describe('a token with fewer scopes', () => {
  it('cannot create a token with more scopes than its own', async () => {
    const { origin } = await startApp(anyDatabase)
    const api = await signUp(origin)
    const writer = createApiClient(origin, (await makeToken(api, { scopes: ['read', 'write'] })).token)
    const refused = await writer.send('POST', '/tokens', { name: 'more', scopes: ['read', 'mcp'] })
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ detail: expect.stringContaining('"mcp"') })
    expect((await makeToken(writer)).scopes).toEqual(['read', 'write'])
    const reader = createApiClient(origin, (await makeToken(api, { scopes: ['read'] })).token)
    expect((await reader.send('POST', '/tokens', { name: 'x', scopes: ['read'] })).status).toBe(403)
    const mcpOnly = createApiClient(origin, (await makeToken(api, { scopes: ['mcp'] })).token)
    expect((await mcpOnly.send('GET', '/me')).status).toBe(403)
  })

  it('cannot create a token that outlives it, whatever is requested', async () => {
    const { origin } = await startApp(anyDatabase)
    const api = await signUp(origin)
    const short = await makeToken(api, { expiresInDays: 2 })
    const maker = createApiClient(origin, short.token)
    expect((await makeToken(maker, { expiresInDays: 365 })).expiresAt).toBe(short.expiresAt)
    expect((await makeToken(maker)).expiresAt).toBe(short.expiresAt)
    const shorter = await makeToken(maker, { expiresInDays: 1 })
    expect(Date.parse(shorter.expiresAt)).toBeLessThan(Date.parse(short.expiresAt))
  })

  it('is not accepted as a session', async () => {
    const { origin } = await startApp(anyDatabase)
    const api = await signUp(origin)
    expect((await api.send('GET', '/session')).status).toBe(401)
    expect((await api.send('DELETE', '/session')).status).toBe(401)
  })
})

describe('creating a token', () => {
  it('with invalid input is rejected, and the errors name the fields', async () => {
    const { origin } = await startApp(anyDatabase)
    const api = await signUp(origin)
    const wishes: [object, string][] = [
      [{}, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'a'.repeat(101) }, 'name'],
      [{ name: 'two\nlines' }, 'name'],
      [{ name: 'x', scopes: [] }, 'scopes'],
      [{ name: 'x', scopes: ['admin'] }, 'scopes[0]'],
      [{ name: 'x', expiresInDays: 0 }, 'expiresInDays'],
      [{ name: 'x', expiresInDays: 366 }, 'expiresInDays'],
      [{ name: 'x', expiresInDays: 1.5 }, 'expiresInDays'],
    ]
    for (const [wish, path] of wishes) {
      expect(await api.send('POST', '/tokens', wish)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    }
  })

  it('requires the CSRF token with a cookie, like every other change', async () => {
    const { origin } = await startApp(anyDatabase)
    const browser = createBrowser(origin)
    await browser.signUp('ada@example.com', 'correct horse battery staple')
    const change = () =>
      Promise.all([
        browser.send('POST', '/tokens', { name: 'x' }),
        browser.send('DELETE', '/tokens/0190a5a0-0000-7000-8000-000000000000'),
      ])
    const signOut = () => browser.send('DELETE', '/session')
    expect((await change()).map(({ status }) => status)).toEqual([403, 403])
    expect((await signOut()).status).toBe(403)
    await browser.loadCsrfToken()
    expect((await change()).map(({ status }) => status)).toEqual([201, 404])
    expect((await signOut()).status).toBe(204)
  })
})
