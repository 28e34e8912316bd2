import * as oauth from 'oauth4webapi'
import { describe, expect, it, onTestFinished } from 'vitest'
import { knock } from '../mcp/messages.ts'
import { databasesOfRun } from '../support/databases.ts'
import {
  answerConsent,
  CALLBACK,
  challengeOf,
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
import { runOAuthWorld } from './support/world.ts'

const INSECURE = { [oauth.allowInsecureRequests]: true } as const

describe.each(databasesOfRun)('the authorization server on $kind', kind => {
  const world = runOAuthWorld({ kind })

  it('serves a strict client from discovery to refresh and revocation', async () => {
    const { origin, serverUrl, visitor } = world
    const issuer = new URL(origin)
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { ...INSECURE, algorithm: 'oauth2' }),
    )
    const client = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(
        server,
        { client_name: 'Strict', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
        INSECURE,
      ),
    )
    const verifier = makeVerifier()
    const redirectUri = 'http://127.0.0.1:53117/callback'
    const parameters = {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      state: 'of the client',
      scope: 'mcp:read mcp:call',
      resource: serverUrl,
    }
    const page = await visitor.get(`${server.authorization_endpoint}?${new URLSearchParams(parameters)}`)
    const back = new URL((await answerConsent(visitor, page, 'yes')).headers.get('location') ?? '')
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri)

    // Validates iss (RFC 9207) and state.
    const answer = oauth.validateAuthResponse(server, client, back, 'of the client')
    const noAuth = oauth.None()
    const granted = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(server, client, noAuth, answer, redirectUri, verifier, {
        ...INSECURE,
        additionalParameters: { resource: serverUrl },
      }),
    )
    expect(granted).toMatchObject({ scope: 'mcp:read mcp:call', expires_in: 3_600, token_type: 'bearer' })
    expect(await knock(serverUrl, granted.access_token)).toBe(200)

    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, noAuth, granted.refresh_token ?? '', INSECURE),
    )
    expect(refreshed.refresh_token).not.toBe(granted.refresh_token)
    expect(await knock(serverUrl, refreshed.access_token)).toBe(200)

    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, noAuth, refreshed.refresh_token ?? '', INSECURE),
    )
    expect(await knock(serverUrl, refreshed.access_token)).toBe(401)
    expect(await knock(serverUrl, granted.access_token)).toBe(401)
  })

  it('authenticates a client with a secret only by that secret', async () => {
    const { origin, serverUrl, visitor } = world
    const client = await registerClient(origin, { token_endpoint_auth_method: 'client_secret_post' })
    const request = makeRequest(client.client_id, serverUrl)
    const code = await obtainCode(visitor, origin, request)
    const wrong = await exchange(origin, code, request, { client_secret: 'guessed' })
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(await exchange(origin, code, request)).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    const right = await exchange(origin, code, request, { client_secret: client.client_secret })
    expect(tokensOf(right).expires_in).toBe(3_600)
  })

  it('keeps tokens, pending codes and registered clients across a restart', async () => {
    const { origin, serverUrl, visitor } = world
    const { client_id } = await registerClient(origin)
    const tokens = await connect(visitor, origin, makeRequest(client_id, serverUrl))
    const request = makeRequest(client_id, serverUrl)
    const code = await obtainCode(visitor, origin, request)
    const again = await world.another()
    onTestFinished(again.close)
    const port = again.settings.port
    const there = `http://localhost:${port}`
    expect(await knock(serverUrl.replace(origin, there), tokens.access_token)).toBe(200)
    const refreshed = tokensOf(await refresh(there, client_id, tokens.refresh_token))
    expect(tokensOf(await exchange(there, code, request)).scope).toBe('mcp:read mcp:call')
    expect(await knock(serverUrl, refreshed.access_token)).toBe(200)
  })

  it('lets only one of two processes redeem a code', async () => {
    const { origin, serverUrl, visitor } = world
    const { client_id } = await registerClient(origin)
    const again = await world.another()
    onTestFinished(again.close)
    const there = `http://localhost:${again.settings.port}`
    for (let round = 0; round < 4; round++) {
      const request = makeRequest(client_id, serverUrl)
      const code = await obtainCode(visitor, origin, request)
      const answers = await Promise.all([exchange(origin, code, request), exchange(there, code, request)])
      expect(answers.filter(({ status }) => status === 200).length).toBe(1)
      for (const { status, body } of answers) if (status !== 200) expect(body.error).toBe('invalid_grant')
    }
  })

  it('stores nothing that could be used as a credential', async () => {
    const { origin, serverUrl, visitor } = world
    const client = await registerClient(origin, { token_endpoint_auth_method: 'client_secret_basic' })
    const request = makeRequest(client.client_id, serverUrl)
    const page = await openConsent(visitor, origin, request)
    const uid = new URL(page.url).pathname.split('/').at(-1) ?? ''
    const { db } = world.services
    const dump = async () =>
      JSON.stringify([
        await db.oAuthArtifact.findMany(),
        await db.oAuthClient.findMany(),
        await db.signingKey.findMany(),
        await db.auditEntry.findMany(),
      ])
    expect(await dump()).not.toContain(uid)

    const code = readCallback(await answerConsent(visitor, page, 'yes')).get('code') ?? ''
    const basic = Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')
    const form = { grant_type: 'authorization_code', code, code_verifier: request.verifier, redirect_uri: CALLBACK }
    const tokens = tokensOf(await postForm(origin, '/oauth/token', form, { authorization: `Basic ${basic}` }))
    const cookies = visitor.jar.all().filter(({ name }) => name.startsWith('op_') && !name.endsWith('.sig'))
    const stored = await dump()
    expect(stored).toContain('"kind":"RefreshToken"')
    for (const secret of [uid, code, tokens.access_token, tokens.refresh_token, client.client_secret ?? '']) {
      expect(secret.length).toBeGreaterThan(20)
      expect(stored).not.toContain(secret)
    }
    expect(cookies.length).toBeGreaterThan(0)
    for (const { value } of cookies) expect(stored).not.toContain(value)
    expect(stored).not.toContain('"d":')
  })

  it('records in the audit log who granted access to which client, and its revocation', async () => {
    const { origin, serverUrl, visitor, owner } = world
    const { client_id } = await registerClient(origin, { client_name: 'To be audited' })
    const tokens = await connect(visitor, origin, makeRequest(client_id, serverUrl, { scope: 'mcp:read' }))
    await postForm(origin, '/oauth/revoke', { token: tokens.refresh_token, client_id })
    const entries = await world.services.db.auditEntry.findMany({
      where: { targetType: 'grant', OR: [{ targetName: 'To be audited' }, { targetName: client_id }] },
      orderBy: { id: 'asc' },
    })
    expect(entries.map(({ action, actorId, change }) => ({ action, actorId, change }))).toMatchObject([
      { action: 'grant.created', actorId: owner.userId, change: { clientId: client_id, scope: 'mcp:read' } },
      { action: 'grant.removed', actorId: owner.userId, change: { clientId: client_id } },
    ])
    expect(entries.every(({ organizationId, address }) => organizationId !== null && address !== null)).toBe(true)
  })
})
