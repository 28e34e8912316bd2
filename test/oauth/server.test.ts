import { randomUUID } from 'node:crypto'
import { connect as connectSocket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { startTestApp } from '../support/app.ts'
import { databasesOfRun, type TestDatabase } from '../support/databases.ts'
import { authorizeUrl, CALLBACK, makeRequest, postForm, postRegistration, registerClient } from './support/client.ts'
import { runOAuthWorld, startOAuthWorld } from './support/world.ts'

const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64')
const Keys = z.object({ keys: z.array(z.looseObject({ kid: z.string(), x: z.string() })) })

const publishedKeys = async (origin: string) =>
  Keys.parse(await (await fetch(`${origin}/oauth/jwks`)).json()).keys.map(({ kid }) => kid)

describe.each(databasesOfRun)('the signing keys on $kind', ({ create }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await create()
  })
  afterAll(() => database.drop())

  it('are created once, published until they are retired, and protect the master key that sealed them from being dropped', async () => {
    const started = [1, 2].map(() => startTestApp({ databaseUrl: database.url }))
    const [one, two] = await Promise.all(started)
    if (one === undefined || two === undefined) throw new Error('not started')
    const [first = ''] = await publishedKeys(one.origin)
    expect(await publishedKeys(two.origin)).toEqual([first])
    const { db } = one.services
    expect(JSON.stringify(await db.signingKey.findMany())).not.toContain('"d"')

    // Adds a key as a rotation does: the newest key signs, and both are published.
    const { sealing } = one.services
    const id = randomUUID()
    const { sealed } = await db.signingKey.findFirstOrThrow().then(row => {
      const context = { purpose: 'oauth-signing-key', ownerId: 'installation', name: row.id }
      const key: unknown = JSON.parse(sealing.open({ keyId: row.keyId, text: row.secret }, context))
      const renamed = JSON.stringify({ ...z.looseObject({}).parse(key), kid: id })
      return { sealed: sealing.seal(renamed, { ...context, name: id }) }
    })
    await db.signingKey.create({ data: { id, secret: sealed.text, keyId: sealed.keyId } })
    await Promise.all([one.close(), two.close()])

    const three = await startTestApp({
      databaseUrl: database.url,
      env: { PATCHBAY_MASTER_KEY: `${keyOf(8)},${keyOf(7)}` },
    })
    expect(await publishedKeys(three.origin)).toEqual([id, first])
    await three.services.db.signingKey.update({ where: { id: first }, data: { retiredAt: new Date() } })
    await three.close()
    await expect(startTestApp({ databaseUrl: database.url, env: { PATCHBAY_MASTER_KEY: keyOf(8) } })).rejects.toThrow(
      /sealed with master key/,
    )
    const four = await startTestApp({ databaseUrl: database.url })
    expect(await publishedKeys(four.origin)).toEqual([id])
    await four.close()
  })
})

describe.each(databasesOfRun)('unusual requests on $kind', kind => {
  const world = runOAuthWorld({ kind })

  it.each([
    ['a client id with NUL', { client_id: '\0' }, 401],
    ['a client id that is half a character', { client_id: '\uD800' }, 401],
    ['a client id of many characters', { client_id: 'x'.repeat(50_000) }, 401],
    ['a token with NUL', { client_id: 'NUL', refresh_token: '\0' }, 400],
    ['a token of many characters', { client_id: 'LONG', refresh_token: 'x'.repeat(50_000) }, 400],
    ['a scope with NUL', { client_id: 'SCOPE', refresh_token: 'x', scope: '\0' }, 400],
  ])('are rejected without harm: %s', async (_title, form, status) => {
    const { client_id } = await registerClient(world.origin)
    const sent = { grant_type: 'refresh_token', refresh_token: 'x', ...form }
    const isKnown = /^[A-Z]+$/.test(form.client_id)
    const answer = await postForm(world.origin, '/oauth/token', {
      ...sent,
      client_id: isKnown ? client_id : form.client_id,
    })
    expect(answer.status).toBe(status)
    expect(answer.body.error).toEqual(expect.stringMatching(/^invalid_/))
    if (status === 401) return
    const revoked = await postForm(world.origin, '/oauth/revoke', { token: sent.refresh_token, client_id })
    expect(revoked.status).toBe(200)
  })

  it('that use Basic with a wrong secret get the error', async () => {
    const basic = Buffer.from('nobody:secret').toString('base64')
    const form = { grant_type: 'refresh_token', refresh_token: 'x' }
    const answer = await postForm(world.origin, '/oauth/token', form, { authorization: `Basic ${basic}` })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /)
  })

  it('with an absolute URL do not change the base URL', async () => {
    const { port } = new URL(world.origin)
    const path = authorizeUrl('http://evil.example', makeRequest('nobody', world.serverUrl))
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connectSocket(Number(port), '127.0.0.1')
      socket
        .on('error', reject)
        .on('data', chunk => {
          text += String(chunk)
        })
        .on('close', () => resolve(text))
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /)
    expect(answer).not.toContain('location: http://evil')
  })
})

describe.each(databasesOfRun)('registrations on $kind', kind => {
  const world = runOAuthWorld({ kind })

  it('that arrive at once from one address are all counted', async () => {
    const redirect_uris = [CALLBACK]
    const answers = Array.from({ length: 30 }, (_, index) =>
      postRegistration(world.origin, { client_name: `${index}`, redirect_uris }, '198.51.100.79'),
    )
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(10).fill(429)])
  })

  it('of the same public client that arrive at once get one client_id', async () => {
    const answers = Array.from({ length: 5 }, () =>
      postRegistration(world.origin, { redirect_uris: [CALLBACK] }, '198.51.100.80'),
    )
    expect(new Set((await Promise.all(answers)).map(({ body }) => body.client_id)).size).toBe(1)
  })
})

describe('requests to the authorization server', () => {
  const world = runOAuthWorld()

  // Requests are counted in memory, whatever the database.
  it.each([
    ['address', (_count: number) => '198.51.100.77', '198.51.100.78'],
    ['IPv6 network', (count: number) => `2001:db8:0:77:${count.toString(16)}::1`, '2001:db8:0:78::1'],
  ])('from one %s are limited after a thousand in a minute, without affecting others', async (_name, from, other) => {
    const send = (address: string) =>
      fetch(`${world.origin}/oauth/token`, { method: 'POST', headers: { 'x-forwarded-for': address } }).then(
        ({ status }) => status,
      )
    const statuses: number[] = []
    for (let batch = 0; batch < 21; batch++) {
      statuses.push(...(await Promise.all(Array.from({ length: 50 }, (_, index) => send(from(batch * 50 + index))))))
    }
    expect(statuses.filter(status => status === 400)).toHaveLength(1_000)
    expect(statuses.filter(status => status === 429)).toHaveLength(50)
    expect(await send(other)).toBe(400)
  })
})

describe('behind a proxy that uses https', () => {
  it('sets only secure cookies, and redirects nowhere over http', async () => {
    const base = 'https://patchbay.example'
    const world = await startOAuthWorld({ env: { PATCHBAY_BASE_URL: base } })
    onTestFinished(world.close)
    const { client_id } = await registerClient(world.origin)
    const url = world.serverUrl.replace(world.origin, base)
    const first = await world.visitor.send('GET', authorizeUrl(world.origin, makeRequest(client_id, url)), undefined, {
      host: 'patchbay.example',
    })
    expect(first.status).toBe(303)
    const cookies = first.headers.getSetCookie().filter(line => line.startsWith('op_'))
    expect(cookies.length).toBeGreaterThan(1)
    for (const line of cookies) {
      expect(line).toMatch(/; secure/i)
      expect(line).toMatch(/; httponly/i)
      expect(line).toMatch(/; samesite=lax/i)
      expect(line).toMatch(/; path=\/oauth/i)
    }
    expect(first.headers.get('x-frame-options')).toBe('DENY')
    expect(first.headers.get('strict-transport-security')).toContain('max-age')
    expect(first.headers.get('cache-control')).toContain('no-store')
  })
})
