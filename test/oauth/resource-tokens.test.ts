import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createOAuthTokens } from '../../src/oauth/grants/access-tokens.ts'
import { INITIALIZE, knock, postTo } from '../mcp/messages.ts'
import { beginSession, openStream, POST_HEADERS, statelessRequest, type WireStream } from '../mcp/wire.ts'
import { signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { during, runPatchbay, runUser } from '../support/world.ts'
import { connect, makeRequest, postForm, registerClient } from './support/client.ts'
import { askedAt, challengeOf } from './support/resource.ts'
import { insertToken, type TokenWish } from './support/tokens.ts'
import { createVisitor } from './support/visitor.ts'

const Token = z.object({ token: z.string() })

/** Makes a JWT with this `header`. It would give full access if JWTs were accepted. */
const makeJwt = (header: object, signature: string): string => {
  const claims = { sub: 'ada', scope: 'mcp:read mcp:call', exp: 9_999_999_999 }
  const parts = [header, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
  return [...parts, signature].join('.')
}

const readToEnd = async (stream: WireStream): Promise<boolean> => {
  for (let event = await stream.next(); event !== undefined; ) event = await stream.next()
  return stream.isClean()
}

describe.each(databasesOfRun)('a token of the authorization server on $kind', kind => {
  /** The id of a private server that both processes serve. */
  let serverId: string
  /** The URLs of that server in each process, and of another server. */
  let url: string
  let secondUrl: string
  let otherUrl: string

  const first = runPatchbay({ kind })
  const second = during(() => first.another())
  const ada = runUser(first)
  const bob = runUser(first)
  beforeAll(async () => {
    const closed = { access: 'private', allowedUsers: [bob.email] }
    serverId = (await ada.create('/servers', { name: 'One', ...closed })).id
    url = `${first.origin}/s/${serverId}`
    secondUrl = `${second.origin}/s/${serverId}`
    otherUrl = `${first.origin}/s/${(await ada.create('/servers', { name: 'Other', ...closed })).id}`
  })

  const mint = (wish: Partial<TokenWish> = {}) =>
    insertToken(first.services, { origin: first.origin, userId: ada.userId, serverId, ...wish })

  /** Obtains a token through all pages, as a client that registers itself. */
  const obtain = async () => {
    const visitor = createVisitor(first.origin)
    await visitor.signIn(ada.email)
    const { client_id: clientId } = await registerClient(first.origin)
    const { access_token: token, refresh_token } = await connect(visitor, first.origin, makeRequest(clientId, url))
    const grant = await first.services.db.oAuthArtifact.findFirstOrThrow({ where: { kind: 'Grant', clientId } })
    return { clientId, token, refresh_token, grantId: grant.id }
  }

  const refusalAt = async (address: string, token: string | undefined) => {
    const response = await postTo(address, token, INITIALIZE())
    expect(response.status).toBe(401)
    return challengeOf(response)
  }
  const INVALID = { error: 'invalid_token' }

  it('gives access only to the server that it was requested for, and only if it is complete', async () => {
    const { token, refresh_token } = await obtain()
    expect([await knock(url, token), await knock(secondUrl, token)]).toEqual([200, 200])
    expect(await refusalAt(otherUrl, token)).toEqual({ ...INVALID, ...askedAt(otherUrl) })
    for (const wrong of [refresh_token, token.slice(0, -1), `${token}x`, `${token}.${token}`]) {
      expect(await refusalAt(url, wrong)).toEqual({ ...INVALID, ...askedAt(url) })
    }
  })

  it('is requested without an error if the header has none (RFC 6750 §3.1)', async () => {
    const { token } = await mint()
    expect(await refusalAt(url, undefined)).toEqual(askedAt(url))
    expect(await refusalAt(`${url}?access_token=${token}`, undefined)).toEqual(askedAt(url))
  })

  it.each<[string, () => Promise<{ token: string }>]>([
    ['expired', () => mint({ endsIn: -1_000 })],
    ['for the address that the installation had before', () => mint({ audience: 'https://old.example/s/x' })],
    ['for the whole installation', () => mint({ audience: first.origin })],
    ['a code', () => mint({ kind: 'AuthorizationCode' })],
    ['of another issuer', async () => ({ token: randomBytes(32).toString('base64url') })],
    ['an unsigned JWT', async () => ({ token: makeJwt({ alg: 'none' }, '') })],
    ['a JWT that somebody signed', async () => ({ token: makeJwt({ alg: 'HS256' }, 'A'.repeat(43)) })],
    ['nothing of the kind', async () => ({ token: '~' })],
  ])('is rejected as invalid if it is %s', async (_what, make) => {
    const { token } = await make()
    expect(await refusalAt(url, token)).toEqual({ ...INVALID, ...askedAt(url) })
  })

  it('is looked up once in five seconds, and cached no longer', async () => {
    const { db, databaseHealth, bus } = first.services
    let now = Date.now()
    const logger = { warn: () => undefined }
    const tokens = createOAuthTokens({ db, databaseHealth, bus, logger, baseUrl: first.origin, now: () => now })
    onTestFinished(tokens.close)
    const { token, grantId } = await mint()
    const holder = { userId: ada.userId, serverId }
    expect(await tokens.verify(token)).toMatchObject(holder)
    // The result is not a promise, because nothing had to be awaited.
    expect(tokens.verify(token)).toMatchObject(holder)
    // Deletes the token directly in the database, so that nothing is announced.
    await db.oAuthArtifact.deleteMany({ where: { grantId } })
    now += 4_999
    expect(tokens.verify(token)).toMatchObject(holder)
    now += 1
    expect(await tokens.verify(token)).toBeUndefined()
  })

  it('ends when it expires, even right after a use', async () => {
    const { token } = await mint({ endsIn: 700 })
    expect(await knock(url, token)).toBe(200)
    await expect.poll(() => knock(url, token)).toBe(401)
  })

  it.each([
    ['at the revocation endpoint', { by: 'client' }],
    ['by its user', { by: 'user' }],
    ['by the owner of its server', { by: 'owner' }],
  ])('is rejected here at once and in every other process soon after its revocation %s', async (_how, { by }) => {
    const { token, clientId, grantId } = await obtain()
    expect([await knock(url, token), await knock(secondUrl, token)]).toEqual([200, 200])
    if (by === 'client') await postForm(first.origin, '/oauth/revoke', { token, client_id: clientId })
    else await ada.expectOk('DELETE', by === 'user' ? `/me/applications/${grantId}` : `/grants/${grantId}`)
    expect(await knock(url, token)).toBe(401)
    await expect.poll(() => knock(secondUrl, token), { timeout: 4_000 }).toBe(401)
  })

  it.each(['first', 'second'])('closes its open streams in the %s process when it is revoked', async which => {
    const app = { port: which === 'first' ? first.settings.port : second.settings.port }
    const { token, grantId } = await mint()
    const headers = { authorization: `Bearer ${token}` }
    const session = await beginSession(app, serverId, '2025-11-25', headers)
    const listening = statelessRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const streams = [
      await openStream(app, { path: `/s/${serverId}`, headers: session }),
      await openStream(app, { path: `/s/${serverId}/sse`, headers }),
      await openStream(app, {
        method: 'POST',
        path: `/s/${serverId}`,
        headers: { ...POST_HEADERS, ...listening.headers, ...headers },
        body: listening.body,
      }),
    ]
    const others = await openStream(app, {
      path: `/s/${serverId}/sse`,
      headers: { authorization: `Bearer ${bob.token}` },
    })
    for (const stream of [...streams, others]) expect(stream.status).toBe(200)
    let haveOthersEnded = false
    const othersEnd = readToEnd(others).then(() => {
      haveOthersEnded = true
    })
    await ada.expectOk('DELETE', `/grants/${grantId}`)
    for (const stream of streams) expect(await readToEnd(stream)).toBe(true)
    expect(haveOthersEnded).toBe(false)
    others.close()
    await othersEnd
  })

  it('opens no stream if it is revoked while the request body is being sent', async () => {
    const { token, grantId } = await mint()
    const { db } = first.services
    const listening = statelessRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const headers = { ...POST_HEADERS, ...listening.headers, authorization: `Bearer ${token}` }
    const options = { method: 'POST', host: '127.0.0.1', port: first.settings.port, path: `/s/${serverId}`, headers }
    const asking = request(options)
    const answered = once(asking, 'response')
    asking.flushHeaders()
    const wasLetIn = () => db.oAuthArtifact.count({ where: { id: grantId, lastUsedAt: { not: null } } })
    await expect.poll(wasLetIn).toBe(1)
    await ada.expectOk('DELETE', `/grants/${grantId}`)
    asking.end(JSON.stringify(listening.body))
    const [answer]: IncomingMessage[] = await answered
    answer?.resume()
    await once(answer ?? asking, 'end')
    expect(answer?.complete).toBe(true)
  })

  it('is valid only while its user may use the server', async () => {
    const { token } = await mint({ userId: bob.userId })
    expect(await knock(url, token)).toBe(200)
    await ada.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [] })
    // The response is 403 without a challenge, because another token of the same user would not help.
    const response = await postTo(url, token, INITIALIZE())
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([403, null])
    await ada.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [bob.email] })
    expect(await knock(url, token)).toBe(200)
  })

  it('loses access as soon as its user leaves the organization', async () => {
    const { db } = first.services
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })
    const team = await ada.create('/servers', { name: 'Team', access: 'organization' })
    const member = await signUp(first.origin)
    await db.membership.create({ data: { organizationId, userId: member.userId, role: 'viewer' } })
    const { token } = await mint({ userId: member.userId, serverId: team.id })
    const teamUrl = `${first.origin}/s/${team.id}`
    const both = [knock(teamUrl, token), knock(secondUrl.replace(serverId, team.id), token)]
    expect(await Promise.all(both)).toEqual([200, 200])
    await ada.expectOk('DELETE', `/organizations/${organizationId}/members/${member.userId}`)
    expect(await knock(teamUrl, token)).not.toBe(200)
    await expect.poll(() => knock(secondUrl.replace(serverId, team.id), token), { timeout: 4_000 }).not.toBe(200)
  })

  it("continues a session of the same user, however that user signed in, but not another user's", async () => {
    const app = { port: first.settings.port }
    const [mine, other, bobs] = [await mint(), await mint(), await mint({ userId: bob.userId })]
    const session = await beginSession(app, serverId, '2025-06-18', { authorization: `Bearer ${mine.token}` })
    const ping = async (token: string | undefined) => {
      const { authorization: _, ...headers } = session
      return (await postTo(url, token, { jsonrpc: '2.0', id: 2, method: 'ping' }, headers)).status
    }
    expect([await ping(mine.token), await ping(other.token), await ping(ada.token)]).toEqual([200, 200, 200])
    expect([await ping(bobs.token), await ping(bob.token), await ping(undefined)]).toEqual([404, 404, 401])
    await ada.expectOk('DELETE', `/grants/${mine.grantId}`)
    expect([await ping(mine.token), await ping(other.token)]).toEqual([401, 200])
  })

  it('shows when its grant was last used', async () => {
    const { token, grantId } = await mint()
    await knock(url, token)
    const usedAt = async () => {
      const row = await first.services.db.oAuthArtifact.findUniqueOrThrow({ where: { id: grantId } })
      return row.lastUsedAt
    }
    await expect.poll(usedAt).toBeInstanceOf(Date)
  })

  it('is invalid for the management API, as is a personal access token without the scope mcp here', async () => {
    const { token } = await mint()
    const response = await fetch(`${first.origin}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(response.status).toBe(401)
    const made = await ada.expectOk('POST', '/tokens', { name: 'api', scopes: ['read', 'write'] })
    expect(await knock(url, Token.parse(made.body).token)).toBe(403)
  })
})
