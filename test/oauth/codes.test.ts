import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { knock } from '../mcp/messages.ts'
import { databasesOfRun } from '../support/databases.ts'
import {
  answerConsent,
  CALLBACK,
  connect,
  exchange,
  makeRequest,
  makeVerifier,
  obtainCode,
  openConsent,
  postForm,
  readCallback,
  refresh,
  registerClient,
  tokensOf,
} from './support/client.ts'
import { DAY_MS, HOUR_MS, letTimePass, SECOND_MS } from './support/time.ts'
import { runOAuthWorld, startOAuthWorld } from './support/world.ts'

describe.each(databasesOfRun)('codes and tokens on $kind', kind => {
  const world = runOAuthWorld({ kind })
  let clientId: string
  let otherServerUrl: string
  beforeAll(async () => {
    clientId = (await registerClient(world.origin)).client_id
    otherServerUrl = await world.makeServer()
  })

  const prepare = async (changes?: Record<string, string>) => {
    const request = makeRequest(clientId, world.serverUrl, changes)
    return { request, code: await obtainCode(world.visitor, world.origin, request) }
  }

  it('revokes everything issued for a code that is used again', async () => {
    const { request, code } = await prepare()
    const tokens = tokensOf(await exchange(world.origin, code, request))
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(200)
    const again = await exchange(world.origin, code, request)
    expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(again.headers.get('cache-control')).toContain('no-store')
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(401)
    expect((await refresh(world.origin, clientId, tokens.refresh_token)).body.error).toBe('invalid_grant')
    const misused = await world.services.db.auditEntry.findMany({ where: { action: 'grant.misused' } })
    expect(misused).toMatchObject([{ targetName: clientId, actorId: null, address: '127.0.0.1' }])
  })

  it('rejects a code from another client, and gives its own client the requested access', async () => {
    const { request, code } = await prepare()
    const other = await registerClient(world.origin)
    const stolen = await exchange(world.origin, code, request, { client_id: other.client_id })
    expect(stolen).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await exchange(world.origin, code, request)).status).toBe(200)
  })

  it.each([
    ['the verifier of another request', { code_verifier: makeVerifier() }, 'invalid_grant'],
    ['no verifier', { code_verifier: undefined }, 'invalid_grant'],
    ['another redirect', { redirect_uri: 'http://127.0.0.1/other' }, 'invalid_grant'],
    ['another port of the redirect', { redirect_uri: 'http://127.0.0.1:4711/callback' }, 'invalid_grant'],
    ['a code that nobody was given', { code: 'x'.repeat(43) }, 'invalid_grant'],
    ['no client', { client_id: undefined }, 'invalid_request'],
    ['a client that does not exist', { client_id: 'nobody' }, 'invalid_client'],
    ['another grant type', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['the password of a user', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('rejects %s', async (_title, changes, error) => {
    const { request, code } = await prepare()
    const answer = await exchange(world.origin, code, request, changes)
    expect(answer.body.error).toBe(error)
    expect(answer.status).toBe(error === 'invalid_client' ? 401 : 400)
    expect(JSON.stringify(answer.body)).not.toContain('access_token')
  })

  it.each([
    ['another server', () => otherServerUrl],
    ['an address that is not a server', () => `${world.origin}/s/nothing`],
    ['another origin', () => world.serverUrl.replace('localhost', 'evil.example')],
  ])('issues no token for %s', async (_title, resource) => {
    const { request, code } = await prepare()
    const answer = await exchange(world.origin, code, request, { resource: resource() })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_target' } })
  })

  it('accepts any spelling of the resource, and defaults to the one agreed to', async () => {
    for (const resource of [undefined, `${world.serverUrl.replace('http://localhost', 'HTTP://LOCALHOST')}/`]) {
      const { request, code } = await prepare()
      const tokens = tokensOf(await exchange(world.origin, code, request, { resource }))
      expect(await knock(world.serverUrl, tokens.access_token)).toBe(200)
      const change: Record<string, string> = resource === undefined ? {} : { resource }
      const refreshed = tokensOf(await refresh(world.origin, clientId, tokens.refresh_token, change))
      expect(await knock(world.serverUrl, refreshed.access_token)).toBe(200)
      expect(await knock(otherServerUrl, refreshed.access_token)).toBe(401)
      const other = await refresh(world.origin, clientId, refreshed.refresh_token, { resource: otherServerUrl })
      expect(other.body.error).toBe('invalid_target')
    }
  })

  it('issues fewer scopes on request, but no more on refresh', async () => {
    const { request, code } = await prepare({ scope: 'mcp:read' })
    const tokens = tokensOf(await exchange(world.origin, code, request))
    expect(tokens.scope).toBe('mcp:read')
    expect(tokensOf(await refresh(world.origin, clientId, tokens.refresh_token)).scope).toBe('mcp:read')
    const more = await connect(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    const less = tokensOf(await refresh(world.origin, clientId, more.refresh_token, { scope: 'mcp:read' }))
    expect(less.scope).toBe('mcp:read')
    const beyond = await refresh(world.origin, clientId, tokens.refresh_token, { scope: 'mcp:read mcp:call' })
    expect(beyond.status).toBe(400)
  })

  it('expires a code after a minute, an access token after an hour, a refresh token after 30 days', async () => {
    const { request, code } = await prepare()
    const second = await prepare()
    await letTimePass(world, 50 * SECOND_MS)
    const tokens = tokensOf(await exchange(world.origin, code, request))
    await letTimePass(world, 20 * SECOND_MS)
    expect((await exchange(world.origin, second.code, second.request)).body.error).toBe('invalid_grant')
    await letTimePass(world, HOUR_MS - 30 * SECOND_MS)
    const other = tokensOf(await refresh(world.origin, clientId, tokens.refresh_token))
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(200)
    await letTimePass(world, HOUR_MS + SECOND_MS)
    expect(await knock(world.serverUrl, other.access_token)).toBe(401)
    // The refresh token is rotated on use, and the grant itself does not expire.
    await letTimePass(world, 28 * DAY_MS)
    const late = tokensOf(await refresh(world.origin, clientId, other.refresh_token))
    await letTimePass(world, 29 * DAY_MS)
    const later = tokensOf(await refresh(world.origin, clientId, late.refresh_token))
    await letTimePass(world, 30 * DAY_MS + SECOND_MS)
    expect((await refresh(world.origin, clientId, later.refresh_token)).body.error).toBe('invalid_grant')
  })

  it('lets several processes of one client refresh at the same time, and revokes everything if one does so later', async () => {
    const tokens = await connect(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    const first = tokens.refresh_token
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(world.origin, clientId, first)))
    const rotated = answers.map(tokensOf)
    expect(new Set(rotated.map(({ refresh_token }) => refresh_token)).size).toBe(5)
    for (const { access_token } of rotated) expect(await knock(world.serverUrl, access_token)).toBe(200)
    const last = tokensOf(await refresh(world.origin, clientId, rotated[3]?.refresh_token ?? ''))
    await letTimePass(world, 11 * SECOND_MS)
    expect((await refresh(world.origin, clientId, first)).body.error).toBe('invalid_grant')
    expect(await knock(world.serverUrl, last.access_token)).toBe(401)
    for (const { access_token } of rotated) expect(await knock(world.serverUrl, access_token)).toBe(401)
    expect((await refresh(world.origin, clientId, last.refresh_token)).body.error).toBe('invalid_grant')
  })

  it('rejects a refresh token from another client, and keeps it valid for its own', async () => {
    const tokens = await connect(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    const other = await registerClient(world.origin)
    expect((await refresh(world.origin, other.client_id, tokens.refresh_token)).body.error).toBe('invalid_grant')
    await postForm(world.origin, '/oauth/revoke', { token: tokens.refresh_token, client_id: other.client_id })
    expect((await refresh(world.origin, clientId, tokens.refresh_token)).status).toBe(200)
  })

  it.each(['access_token', 'refresh_token'] as const)("ends a client's access when its %s is revoked", async name => {
    const tokens = await connect(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(200)
    const answer = await postForm(world.origin, '/oauth/revoke', { token: tokens[name], client_id: clientId })
    expect(answer.status).toBe(200)
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(401)
    expect((await refresh(world.origin, clientId, tokens.refresh_token)).body.error).toBe('invalid_grant')
    // Revoking an invalid token also succeeds (RFC 7009 §2.2).
    const again = await postForm(world.origin, '/oauth/revoke', { token: tokens[name], client_id: clientId })
    expect(again.status).toBe(200)
  })

  it('ends all access to a removed server', async () => {
    const url = await world.makeServer()
    const tokens = await connect(world.visitor, world.origin, makeRequest(clientId, url))
    const request = makeRequest(clientId, url)
    const code = await obtainCode(world.visitor, world.origin, request)
    await world.owner.expectOk('DELETE', `/servers/${url.split('/').at(-1)}`)
    expect((await exchange(world.origin, code, request)).status).toBe(400)
    expect((await refresh(world.origin, clientId, tokens.refresh_token)).status).toBe(400)
  })

  it('rejects a second response to one question', async () => {
    const page = await openConsent(world.visitor, world.origin, makeRequest(clientId, world.serverUrl))
    expect(readCallback(await answerConsent(world.visitor, page, 'yes')).get('code')).toBeTruthy()
    const replayed = await answerConsent(world.visitor, page, 'no')
    expect(replayed.status).toBe(400)
    expect(replayed.headers.get('location')).toBeNull()
    expect(replayed.text).toContain('has expired')
  })
})

describe('without a grace period for refresh tokens', () => {
  it('a refresh token used twice, even at the same time, revokes everything', async () => {
    const world = await startOAuthWorld({ env: { PATCHBAY_OAUTH_REFRESH_GRACE_SECONDS: '0' } })
    onTestFinished(world.close)
    const { client_id } = await registerClient(world.origin, { redirect_uris: [CALLBACK] })
    const tokens = await connect(world.visitor, world.origin, makeRequest(client_id, world.serverUrl))
    const answers = await Promise.all([1, 2, 3].map(() => refresh(world.origin, client_id, tokens.refresh_token)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(401)
    for (const { status, body } of answers) {
      if (status !== 200) continue
      const { access_token } = tokensOf({ status, body, headers: new Headers() })
      expect(await knock(world.serverUrl, access_token)).toBe(401)
    }
  })
})
