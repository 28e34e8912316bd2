import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type AccessPolicy,
  checkUserAccess,
  createServerAccess,
  isAllowed,
  type McpPrincipal,
} from '../../src/servers/access/access.ts'
import { INITIALIZE, knock, postTo } from '../mcp/messages.ts'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { connect, toolNames } from './mcp.ts'

const Token = z.object({ id: z.string(), token: z.string() })
const makeToken = async (api: ApiClient, scopes: string[] = ['mcp']) =>
  Token.parse((await api.expectOk('POST', '/tokens', { name: 'token', scopes })).body)

/** Tests the access check alone, for cases that are hard to produce with a request. */
const policyOf = (tier: AccessPolicy['tier']): AccessPolicy => ({
  serverId: 'server',
  tier,
  organizationId: 'organization',
  ownerId: 'owner',
  allowedUserIds: new Set(),
})
const OWNER: McpPrincipal = {
  userId: 'owner',
  tokenId: 'token',
  grantId: 'grant',
  memberships: new Map([['organization', 'builder']]),
  isForMcp: true,
}
const none = () => undefined
const NOTHING_SUSPENDED = { ofUser: none, ofOrganization: none, ofServer: none, ofOrigin: none }
const check = (principal: McpPrincipal, tier: AccessPolicy['tier'], header = 'Bearer right') =>
  createServerAccess(token => (token === 'right' ? principal : undefined), NOTHING_SUSPENDED)(policyOf(tier), header)

describe('the access check of a server', () => {
  it.each(['Bearer right', 'bearer right', 'BEARER   right', 'Bearer right  '])(
    'reads the token of the header "%s"',
    header => expect(check(OWNER, 'private', header)).toMatchObject({ ok: true, value: { userId: 'owner' } }),
  )

  it.each(['', 'right', 'Basic right', 'Bearer', 'Bearerright', 'x Bearer right', 'Bearer right wrong'])(
    'finds no token in the header "%s"',
    header => expect(check(OWNER, 'private', header)).toEqual({ ok: false, error: 'unauthenticated' }),
  )

  it.each([
    ['for this server', { serverId: 'server' }, true, true],
    ['for another server', { serverId: 'other' }, false, undefined],
    ['that may not be used for MCP', { isForMcp: false }, false, undefined],
    ['for this server that may not be used for MCP', { serverId: 'server', isForMcp: false }, false, undefined],
  ])('handles a token %s', (_, limits, isAllowedIn, isKnownIn) => {
    const principal = { ...OWNER, ...limits }
    expect(check(principal, 'private')).toMatchObject({ ok: isAllowedIn })
    // A public server admits everybody. The token only identifies the caller.
    const caller = isKnownIn ? { userId: 'owner', tokenId: 'token', grantId: 'grant' } : undefined
    expect(check(principal, 'public')).toEqual({ ok: true, value: caller })
  })

  it('allows users without a token as their membership allows, and nobody else', () => {
    const user = { userId: 'owner', memberships: new Map() }
    expect(checkUserAccess(policyOf('private'), user)).toMatchObject({ ok: true, value: { userId: 'owner' } })
    expect(checkUserAccess(policyOf('organization'), user)).toEqual({ ok: false, error: 'forbidden' })
    expect(checkUserAccess(policyOf('private'), undefined)).toEqual({ ok: false, error: 'unauthenticated' })
    expect(checkUserAccess(policyOf('public'), undefined)).toEqual({ ok: true, value: undefined })
    const builder = { userId: 'builder', memberships: OWNER.memberships }
    expect(checkUserAccess(policyOf('private'), builder)).toEqual({ ok: false, error: 'forbidden' })
    expect(checkUserAccess(policyOf('organization'), builder)).toMatchObject({ ok: true })
    expect(isAllowed(policyOf('public'), { userId: 'stranger', memberships: new Map() })).toBe(true)
  })
})

describe('a server at its address', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  const tokens = new Map<string, string | undefined>()
  const urls = new Map<string, string>()
  const serverIds = new Map<string, string>()

  const ada = runUser(patchbay)
  beforeAll(async () => {
    const [member, friend, stranger] = [
      await signUp(patchbay.origin),
      await signUp(patchbay.origin),
      await signUp(patchbay.origin),
    ]
    const { db } = patchbay.services
    const tool = { name: 'tool', method: 'GET', url: `${fake.origin}/` }
    for (const access of ['public', 'organization', 'private']) {
      const server = { name: access, access, allowedUsers: [friend.email.toUpperCase()] }
      const made = await makeServer(ada, [tool], { server })
      urls.set(access, made.url)
      serverIds.set(access, made.serverId)
    }
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })
    await db.membership.create({ data: { organizationId, userId: member.userId, role: 'viewer' } })
    const expired = await makeToken(ada)
    await db.accessToken.update({ where: { id: expired.id }, data: { expiresAt: new Date(Date.now() - 1_000) } })
    const revoked = await makeToken(ada)
    await ada.expectOk('DELETE', `/tokens/${revoked.id}`)
    for (const [who, token] of [
      ['an anonymous caller', undefined],
      ['the owner', ada.token],
      ['the owner with a token for MCP only', (await makeToken(ada)).token],
      ['the owner with a token for the API only', (await makeToken(ada, ['read', 'write'])).token],
      ['the owner with an expired token', expired.token],
      ['the owner with a revoked token', revoked.token],
      ['a member of the organization', member.token],
      ['an allowed user', friend.token],
      ['a stranger', stranger.token],
      ['a caller with an unknown token', `pbk_${'x'.repeat(43)}`],
      ['a caller with a token in another format', 'eyJhbGciOi.e30.x'],
    ] as const) {
      tokens.set(who, token)
    }
  })

  it.each([
    ['an anonymous caller', 200, 401, 401],
    ['the owner', 200, 200, 200],
    ['the owner with a token for MCP only', 200, 200, 200],
    ['the owner with a token for the API only', 200, 403, 403],
    ['the owner with an expired token', 200, 401, 401],
    ['the owner with a revoked token', 200, 401, 401],
    ['a member of the organization', 200, 200, 403],
    ['an allowed user', 200, 403, 200],
    ['a stranger', 200, 403, 403],
    ['a caller with an unknown token', 200, 401, 401],
    ['a caller with a token in another format', 200, 401, 401],
  ])('answers %s: public %i, organization %i, private %i', async (who, ...statuses) => {
    const answers = await Promise.all(
      ['public', 'organization', 'private'].map(tier => postTo(urls.get(tier) ?? '', tokens.get(who), INITIALIZE())),
    )
    expect(answers.map(answer => answer.status)).toEqual(statuses)
    for (const answer of answers.filter(({ status }) => status === 401)) {
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it.each(['0b8f7f3e-6f0c-4d1f-9f57-2f8f6c1f0a11', 'no-uuid', '00000000-0000-0000-0000-000000000000'])(
    'returns 404 for an unknown id (%s), with or without a token',
    async id => {
      const url = `${patchbay.origin}/s/${id}`
      expect(await knock(url)).toBe(404)
      expect(await knock(url, ada.token)).toBe(404)
    },
  )

  it('rejects a token, and sessions started with it, as soon as it is revoked', async () => {
    const { id, token } = await makeToken(ada)
    const client = await connect(urls.get('private') ?? '', token)
    expect(await toolNames(client)).toEqual(['tool'])
    await ada.expectOk('DELETE', `/tokens/${id}`)
    await expect(client.listTools()).rejects.toThrow()
    expect(await knock(urls.get('private') ?? '', token)).toBe(401)
  })

  it('rejects a token as soon as it expires', async () => {
    const { id, token } = await makeToken(ada)
    const expiresAt = new Date(Date.now() + 700)
    await patchbay.services.db.accessToken.update({ where: { id }, data: { expiresAt } })
    const url = urls.get('private') ?? ''
    expect(await knock(url, token)).toBe(200)
    await expect.poll(() => knock(url, token), { timeout: 10_000 }).toBe(401)
  })

  it('reflects changes of tier and allowed users at once', async () => {
    const server = await ada.create('/servers', { name: 'Changing' })
    const url = `${patchbay.origin}/s/${server.id}`
    const stranger = tokens.get('a stranger')
    const [userId] = await Promise.all([patchbay.services.accounts.verifyMcpToken(stranger ?? '')])
    const change = async (body: object) => {
      const answer = await ada.send('PATCH', `/servers/${server.id}`, body)
      expect(answer.status).toBe(200)
      return answer.body
    }
    const statuses = async () => [await knock(url), await knock(url, stranger)]
    expect(await statuses()).toEqual([401, 403])
    expect(await change({ allowedUsers: [userId?.userId] })).toMatchObject({ allowedUsers: [userId?.userId] })
    expect(await statuses()).toEqual([401, 200])
    await change({ access: 'organization' })
    expect(await statuses()).toEqual([401, 403])
    await change({ access: 'public' })
    expect(await statuses()).toEqual([200, 200])
    await change({ access: 'private', allowedUsers: [] })
    expect(await statuses()).toEqual([401, 403])
  })

  it('accepts only existing users, and reports the others', async () => {
    const answer = await ada.send('POST', '/servers', {
      name: 'x',
      allowedUsers: [ada.userId, 'nobody@example.com', ` ${ada.userId} `, 'no one'],
    })
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'allowedUsers[1]' }, { path: 'allowedUsers[3]' }] },
    })
  })

  it('lets only its owner and those who manage the organization change who may use it', async () => {
    const { db } = patchbay.services
    const serverId = serverIds.get('private')
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })
    const colleague = await signUp(patchbay.origin)
    const { id } = await db.membership.create({ data: { organizationId, userId: colleague.userId, role: 'builder' } })
    const { allowedUsers } = z
      .looseObject({ allowedUsers: z.array(z.string()) })
      .parse((await ada.send('GET', `/servers/${serverId}`)).body)
    await ada.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [...allowedUsers, colleague.userId] })
    const shown = z
      .looseObject({ access: z.string() })
      .parse((await colleague.send('GET', `/servers/${serverId}`)).body)
    const status = async (method: string, body?: object) =>
      (await colleague.send(method, `/servers/${serverId}`, body)).status
    expect(await status('PATCH', { ...shown, description: 'Described' })).toBe(200)
    expect(await status('PATCH', { access: 'public' })).toBe(403)
    expect(await status('PATCH', { allowedUsers: [colleague.userId] })).toBe(403)
    expect(await status('DELETE')).toBe(403)
    await db.membership.update({ where: { id }, data: { role: 'admin' } })
    expect(await status('PATCH', { allowedUsers: shown.allowedUsers })).toBe(200)
    const own = await colleague.create('/servers', { name: 'Own', organizationId })
    await db.membership.update({ where: { id }, data: { role: 'builder' } })
    expect((await colleague.send('PATCH', `/servers/${own.id}`, { access: 'public' })).status).toBe(200)
    expect((await colleague.send('DELETE', `/servers/${own.id}`)).status).toBe(204)
  })
})
