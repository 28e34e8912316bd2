import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { removeExpired } from '../../src/oauth/grants/sweep.ts'
import { knock } from '../mcp/messages.ts'
import { countTurns } from '../support/count-turns.ts'
import { CALLBACK, connect, makeRequest, postRegistration, registerClient } from './support/client.ts'
import { DAY_MS, HOUR_MS, letTimePass } from './support/time.ts'
import { runOAuthWorld } from './support/world.ts'

const world = runOAuthWorld()

const register = (metadata: unknown) => postRegistration(world.origin, metadata)

const SECRET = { token_endpoint_auth_method: 'client_secret_basic' }

/** Registers a public client with this name from an address. */
const registerAs = (client_name: string, address: string) =>
  postRegistration(world.origin, { client_name, redirect_uris: [CALLBACK] }, address)

const registerMany = async (address: string, howMany: number): Promise<string[]> => {
  const ids: string[] = []
  for (let count = 0; count < howMany; count++) {
    const { status, body } = await registerAs(`${count}`, address)
    expect(status).toBe(201)
    ids.push(String(body.client_id))
  }
  return ids
}

describe('a registration', () => {
  it('with the metadata of desktop clients is accepted, and its response shows what was stored', async () => {
    const { status, headers, body } = await register({
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      logo_uri: 'http://169.254.169.254/logo.png',
      jwks_uri: 'http://169.254.169.254/',
      sector_identifier_uri: 'https://evil.example/',
      redirect_uris: ['http://127.0.0.1:33418/', 'http://localhost:33418', 'https://vscode.dev/redirect'],
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code', 'code id_token'],
      scope: 'openid mcp:call something',
      token_endpoint_auth_method: 'none',
      software_id: 'x',
    })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toContain('no-store')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body).toEqual({
      client_id: expect.any(String),
      client_id_issued_at: expect.any(Number),
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      redirect_uris: ['http://127.0.0.1:33418/', 'http://localhost:33418', 'https://vscode.dev/redirect'],
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
  })

  it('of a client with a secret shows it once, and stores it sealed', async () => {
    const { body } = await register({
      redirect_uris: ['https://app.example/cb'],
      token_endpoint_auth_method: 'client_secret_basic',
    })
    expect(body).toMatchObject({ client_secret: expect.stringMatching(/^[\w-]{43}$/), client_secret_expires_at: 0 })
    const stored = JSON.stringify(await world.services.db.oAuthClient.findMany())
    expect(stored).not.toContain(String(body.client_secret))
  })

  it.each([
    ['javascript:alert(1)'],
    ['JavaScript://app.example/%0aalert(1)'],
    ['data:text/html,<script>alert(1)</script>'],
    ['vbscript:x'],
    ['file:///etc/passwd'],
    ['blob:https://app.example/x'],
    ['http://app.example/cb'],
    ['http://127.0.0.1.evil.example/cb'],
    ['https://user:pass@app.example/cb'],
    ['https://@app.example/cb'],
    ['http://u@127.0.0.1/cb'],
    ['https://app.example/cb#fragment'],
    ['https://app.example/cb#'],
    ['cursor://x/y#z'],
    ['https://app.example\\@evil.example/cb'],
    ['https://app.example/c b'],
    ['https://app.example/\u202Ecb'],
    ['https://localhost/cb'],
    ['/relative'],
    ['nothing'],
    [`https://app.example/${'x'.repeat(2_100)}`],
    'https:user@evil.example/cb',
    'https:/evil.example/cb',
    'https:///evil.example/cb',
    'https://evil.example;sandbox/cb',
    'https://evil.example,default-src/cb',
    'https://*/cb',
    "https://evil.example'/cb",
  ])('with the redirect %s is rejected', async uri => {
    const { status, body } = await register({ client_name: 'x', redirect_uris: ['https://app.example/good', uri] })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_redirect_uri')
    expect(body.error_description).toContain('redirect_uris')
  })

  it.each([
    ['no redirects', {}, 'invalid_redirect_uri'],
    ['an empty list of them', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['too many of them', { redirect_uris: Array(21).fill('https://a.example/') }, 'invalid_redirect_uri'],
    ['redirects that are no texts', { redirect_uris: [1] }, 'invalid_redirect_uri'],
    ['another grant type alone', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['another response type alone', { response_types: ['token'] }, 'invalid_client_metadata'],
    [
      'a way to authenticate that is none of ours',
      { token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
    ],
    ['a list in place of an object', [], 'invalid_client_metadata'],
  ])('with %s is rejected', async (title, change, error) => {
    const good =
      title.includes('redirects') || title.includes('of them') ? {} : { redirect_uris: ['https://a.example/'] }
    const { status, body } = await register(Array.isArray(change) ? change : { ...good, ...change })
    expect([status, body.error]).toEqual([400, error])
  })

  it.each([
    ['what is not JSON', '{"redirect_uris": [', 400],
    ['nothing', '', 400],
    ['a prototype', '{"__proto__": {"redirect_uris": ["https://a.example/"]}}', 400],
    ['NUL', '{"client_name": "\\u0000", "redirect_uris": ["https://a.example/"]}', 400],
    ['nested lists', `${'['.repeat(100)}${']'.repeat(100)}`, 400],
    ['more than 64 KiB', JSON.stringify({ client_name: 'x'.repeat(70_000) }), 413],
  ])('of %s is rejected', async (_title, text, status) => {
    const answer = await register(text)
    expect(answer.status).toBe(status)
    expect(answer.body.error).toEqual(expect.stringMatching(/^invalid_/))
  })

  it('that repeats one of a public client without a grant gets the same client_id', async () => {
    const from = (address: string, changes: object = {}) =>
      postRegistration(world.origin, { client_name: 'Twin', redirect_uris: [CALLBACK], ...changes }, address)
    const idFrom = async (address: string, changes?: object) => (await from(address, changes)).body.client_id
    const first = await from('198.51.100.1')
    const again = await from('198.51.100.1', { logo_uri: 'https://app.example/not-stored.png' })
    expect(again).toMatchObject({ status: 201, body: first.body })
    const clientId = String(first.body.client_id)
    const others = [
      await idFrom('198.51.100.1', { client_name: 'Another' }),
      await idFrom('198.51.100.1', { redirect_uris: [`${CALLBACK}/2`] }),
      await idFrom('198.51.100.1', SECRET),
      await idFrom('198.51.100.1', SECRET),
      await idFrom('198.51.100.2'),
    ]
    expect(new Set([clientId, ...others]).size).toBe(6)
    await connect(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    expect(await idFrom('198.51.100.1')).not.toBe(clientId)
  })

  it('is rejected after twenty without a grant from one address within an hour, with the time to wait', async () => {
    const address = '198.51.100.7'
    const ids = await registerMany(address, 20)
    expect(new Set(ids).size).toBe(20)
    const flood = await registerAs('one more', address)
    expect(flood).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
    expect(flood.body.error_description).toMatch(/Try again in (59|60) minutes\.$/)
    const waitSeconds = Number(flood.headers.get('retry-after'))
    expect(waitSeconds).toBeGreaterThan(3_000)
    expect(waitSeconds).toBeLessThanOrEqual(3_600)
    expect((await registerAs('one more', '198.51.100.8')).status).toBe(201)
    // A repeated registration is no new one.
    expect(await registerAs('1', address)).toMatchObject({ status: 201, body: { client_id: ids[1] } })

    await connect(world.visitor, world.origin, makeRequest(ids[0] ?? '', world.serverUrl))
    expect((await registerAs('one more', address)).status).toBe(201)
    expect((await registerAs('too many', address)).status).toBe(429)
    await letTimePass(world, HOUR_MS)
    expect((await registerAs('an hour later', address)).status).toBe(201)
  })

  it('counts once if it is repeated', async () => {
    const ids: unknown[] = []
    for (let count = 0; count < 25; count++) ids.push((await registerAs('the same', '198.51.100.9')).body.client_id)
    expect(new Set(ids).size).toBe(1)
    await registerMany('198.51.100.9', 19)
    expect((await registerAs('one more', '198.51.100.9')).status).toBe(429)
  })

  it('is rejected after two hundred from one address within a day, even if all have grants', async () => {
    const registeredFrom = '198.51.100.10'
    const createdAt = new Date(Date.now() - 2 * HOUR_MS)
    const data = Array.from({ length: 200 }, () => ({
      clientId: randomUUID(),
      metadata: {},
      registeredFrom,
      createdAt,
      lastUsedAt: createdAt,
    }))
    await world.services.db.oAuthClient.createMany({ data })
    const flood = await registerAs('one more', registeredFrom)
    expect(flood).toMatchObject({ status: 429, body: { error_description: expect.stringContaining('in 22 hours') } })
    expect(Number(flood.headers.get('retry-after'))).toBeGreaterThan(21 * 3_600)
    await letTimePass(world, 22 * HOUR_MS)
    expect((await registerAs('a day later', registeredFrom)).status).toBe(201)
  })

  it('is rejected with the longer time to wait if both limits are reached', async () => {
    const registeredFrom = '198.51.100.11'
    const [now, before] = [new Date(), new Date(Date.now() - 2 * HOUR_MS)]
    const data = Array.from({ length: 200 }, (_, index) => ({
      clientId: randomUUID(),
      metadata: {},
      registeredFrom,
      ...(index < 20 ? { createdAt: now } : { createdAt: before, lastUsedAt: before }),
    }))
    await world.services.db.oAuthClient.createMany({ data })
    const { status, headers, body } = await registerAs('one more', registeredFrom)
    expect(status).toBe(429)
    expect(body.error_description).toContain('200 clients within a day. Try again in 22 hours.')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(21 * 3_600)
  })

  it('is rejected after twenty from one IPv6 network, whichever addresses they come from', async () => {
    const statuses: number[] = []
    for (let count = 0; count < 21; count++) {
      statuses.push((await registerAs(`${count}`, `2001:db8:0:7:${count}::1`)).status)
    }
    expect(statuses).toEqual([...Array(20).fill(201), 429])
    expect((await registerAs('1', '2001:db8:0:8::1')).status).toBe(201)
  })
})

describe('unused data', () => {
  const sweep = () => world.services.upkeep.run()
  const clientIds = async () => (await world.services.db.oAuthClient.findMany()).map(({ clientId }) => clientId)

  it('is removed: clients after a day without a grant or 90 days without use, expired tokens, and grants without tokens', async () => {
    const { db } = world.services
    const unused = (await registerClient(world.origin)).client_id
    const used = (await registerClient(world.origin)).client_id
    const tokens = await connect(world.visitor, world.origin, makeRequest(used, world.serverUrl))
    const originOfUsed = async () => {
      const { registeredFrom, metadataHash } = await db.oAuthClient.findUniqueOrThrow({ where: { clientId: used } })
      return [typeof registeredFrom, typeof metadataHash]
    }
    await letTimePass(world, 23 * HOUR_MS)
    await sweep()
    expect(await clientIds()).toEqual(expect.arrayContaining([unused, used]))
    expect(await originOfUsed()).toEqual(['string', 'string'])
    await letTimePass(world, 2 * HOUR_MS)
    await sweep()
    expect(await clientIds()).not.toContain(unused)
    expect(await clientIds()).toContain(used)
    // Only the limits need it.
    expect(await originOfUsed()).toEqual(['object', 'object'])
    // The access token has expired, but the refresh token has not.
    const kindsOf = async () =>
      (await db.oAuthArtifact.findMany({ where: { clientId: used } })).map(({ kind }) => kind).sort()
    expect(await kindsOf()).toEqual(['Grant', 'RefreshToken'])
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(401)
    await letTimePass(world, 30 * DAY_MS)
    await sweep()
    expect(await kindsOf()).toEqual([])
    expect(await clientIds()).toContain(used)
    await letTimePass(world, 60 * DAY_MS)
    await sweep()
    expect(await clientIds()).not.toContain(used)
  })

  it('is removed in batches, between which the process does other work', async () => {
    const { db } = world.services
    const rows = Array.from({ length: 1_000 }, () => ({
      kind: 'Interaction',
      handleHash: randomUUID(),
      payload: {},
      expiresAt: new Date(0),
    }))
    await db.oAuthArtifact.createMany({ data: rows })
    const { turns } = await countTurns(() => removeExpired(db, new Date(), new AbortController().signal))
    expect(turns).toBeGreaterThan(5)
    expect(await db.oAuthArtifact.count({ where: { kind: 'Interaction', expiresAt: { lte: new Date(0) } } })).toBe(0)
  })
})
