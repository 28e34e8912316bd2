import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createApiClient, WithId } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { anyDatabase, EMAIL, makeToken, NEW_PASSWORD, signUpInBrowser, startApp } from './app.ts'
import { linkIn, newPerson, startMailApp } from './mail.ts'

/**
 * Sends the head of a request, and waits until it has been admitted. Returns a function that sends the body and returns
 * the response.
 */
const sendHead = async (origin: string, path: string, headers: Record<string, string>, body: string) => {
  const length = String(Buffer.byteLength(body))
  const outgoing = request(`${origin}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-length': length, expect: '100-continue' },
  })
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  return async () => {
    outgoing.end(body)
    const [incoming]: IncomingMessage[] = await once(outgoing, 'response')
    if (incoming === undefined) throw new Error('there is no response')
    return { status: incoming.statusCode, text: await text(incoming) }
  }
}

type Browser = ReturnType<typeof createBrowser>

const JSON_TYPE = { 'content-type': 'application/json' }
const TOKEN = JSON.stringify({ name: 'late', expiresInDays: 1 })

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

const Session = z.object({ csrfToken: z.string() })

const credentialsOf = async (browser: Browser): Promise<Record<string, string>> => ({
  cookie: [...browser.cookies].map(pair => pair.join('=')).join('; '),
  'x-csrf-token': Session.parse((await browser.send('GET', '/session')).json()).csrfToken,
})

describe('a request whose body arrives after its access has ended', () => {
  it('is refused after a password reset', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const headers = { ...JSON_TYPE, ...(await credentialsOf(browser)) }
    const sendBody = await sendHead(app.origin, '/api/v1/tokens', headers, TOKEN)
    const owner = createBrowser(app.origin)
    await owner.send('POST', '/password-resets', { email: EMAIL })
    const { token } = linkIn(await app.smtp.next())
    expect((await owner.send('PUT', '/password-resets', { token, password: NEW_PASSWORD })).status).toBe(204)
    expect(await sendBody()).toMatchObject({ status: 401 })
    expect(await app.services.db.accessToken.count()).toBe(0)
  })

  it('is refused after its token was revoked', async () => {
    const app = await startApp(anyDatabase)
    const browser = await signUpInBrowser(app)
    const token = await makeToken(browser)
    const headers = { ...JSON_TYPE, authorization: `Bearer ${token}` }
    const sendBody = await sendHead(app.origin, '/api/v1/tokens', headers, TOKEN)
    const { id } = await app.services.db.accessToken.findFirstOrThrow()
    expect((await browser.send('DELETE', `/tokens/${id}`)).status).toBe(204)
    const late = await sendBody()
    expect(late.status).toBe(401)
    expect(await app.services.db.accessToken.count()).toBe(0)
    expect((await createApiClient(app.origin, token).send('GET', '/me')).status).toBe(401)
  })

  it('is refused as a form', async () => {
    const app = await startApp(anyDatabase)
    const browser = await signUpInBrowser(app)
    const { cookie = '', 'x-csrf-token': _csrf = '' } = await credentialsOf(browser)
    const form = new URLSearchParams({ _csrf, name: 'late', scopes: 'read', expiresInDays: '1' }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie, origin: app.origin }
    const sendBody = await sendHead(app.origin, '/account/tokens', headers, form)
    expect((await browser.send('DELETE', '/session')).status).toBe(204)
    const late = await sendBody()
    expect(late.status).toBe(303)
    expect(await app.services.db.accessToken.count()).toBe(0)
  })

  it('is refused by an MCP server', async () => {
    const app = await startApp(anyDatabase)
    const browser = await signUpInBrowser(app)
    const token = await makeToken(browser)
    const server = WithId.parse((await browser.send('POST', '/servers', { name: 'Server', access: 'private' })).json())
    const headers = { ...JSON_TYPE, accept: 'application/json, text/event-stream', authorization: `Bearer ${token}` }
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE })
    const lateBody = await sendHead(app.origin, `/s/${server.id}`, headers, ping)
    const laterBody = await sendHead(app.origin, `/s/${server.id}`, headers, ping)
    expect(await lateBody()).toMatchObject({ status: 200 })
    const { id } = await app.services.db.accessToken.findFirstOrThrow()
    expect((await browser.send('DELETE', `/tokens/${id}`)).status).toBe(204)
    expect(await laterBody()).toMatchObject({ status: 401 })
  })

  it('is accepted while the access lasts', async () => {
    const app = await startApp(anyDatabase)
    const browser = await signUpInBrowser(app)
    const headers = { ...JSON_TYPE, ...(await credentialsOf(browser)) }
    const sendBody = await sendHead(app.origin, '/api/v1/tokens', headers, TOKEN)
    expect(await sendBody()).toMatchObject({ status: 201 })
  })
})
