import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { signUp } from '../../support/api-client.ts'
import { runPatchbay, runUser } from '../../support/world.ts'

const Found = z.strictObject({
  servers: z.array(
    z.strictObject({ name: z.string(), description: z.string(), base_url: z.url(), access_level: z.string() }),
  ),
})

describe('/.well-known/mcp-servers', () => {
  const patchbay = runPatchbay()
  const tokens = new Map<string, string | undefined>()

  const discover = async (token: string | undefined) => {
    const response = await fetch(`${patchbay.origin}/.well-known/mcp-servers`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
    expect(response.status).toBe(200)
    return Found.parse(await response.json()).servers
  }

  const ada = runUser(patchbay)
  beforeAll(async () => {
    const [member, friend, stranger] = [
      await signUp(patchbay.origin),
      await signUp(patchbay.origin),
      await signUp(patchbay.origin),
    ]
    const { db } = patchbay.services
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })
    await db.membership.create({ data: { organizationId, userId: member.userId, role: 'viewer' } })
    for (const access of ['public', 'organization', 'private']) {
      const allowedUsers = access === 'private' ? [friend.userId] : []
      await ada.expectOk('POST', '/servers', { name: access, access, allowedUsers, description: `The ${access} one` })
    }
    const made = await ada.expectOk('POST', '/tokens', { name: 'api', scopes: ['read', 'write'] })
    tokens
      .set('the owner', ada.token)
      .set('the owner, with a token without the scope mcp', z.object({ token: z.string() }).parse(made.body).token)
      .set('a member', member.token)
      .set('an allowed user', friend.token)
      .set('a user of another organization', stranger.token)
      .set('somebody with an invalid token', 'pbk_bad')
      .set('anyone', undefined)
  })

  it.each([
    ['anyone', ['public']],
    ['a user of another organization', ['public']],
    ['somebody with an invalid token', ['public']],
    ['the owner, with a token without the scope mcp', ['public']],
    ['a member', ['organization', 'public']],
    ['an allowed user', ['private', 'public']],
    ['the owner', ['organization', 'private', 'public']],
  ])('lists for %s what they may use: %j', async (who, names) => {
    expect(tokens.has(who)).toBe(true)
    const servers = await discover(tokens.get(who))
    expect(servers.map(({ name }) => name).sort()).toEqual(names)
    for (const { name, description, base_url, access_level } of servers) {
      expect({ description, access_level }).toEqual({ description: `The ${name} one`, access_level: name })
      const answer = await fetch(base_url, { method: 'POST' })
      expect(answer.status).toBe(name === 'public' ? 415 : 401)
    }
  })

  it.each([
    [{ host: 'rebound.example' }, 403],
    [{ host: 'localhost', origin: 'https://evil.example' }, 403],
    [{ host: 'localhost' }, 200],
    [{ host: '127.0.0.1:1' }, 200],
  ])('on this machine alone answers a request with the headers %j with %i', async (headers, status) => {
    const response = await patchbay.http.inject({ url: '/.well-known/mcp-servers', headers })
    expect(response.statusCode).toBe(status)
  })

  it('reflects a change of access at once, and lists no server twice', async () => {
    const both = await ada.create('/servers', { name: 'both', access: 'private', allowedUsers: [ada.userId] })
    const names = async (token: string | undefined) =>
      (await discover(token)).map(({ name }) => name).filter(name => name === 'both')
    expect(await names(ada.token)).toEqual(['both'])
    await ada.expectOk('PATCH', `/servers/${both.id}`, { access: 'public' })
    expect([await names(ada.token), await names(undefined)]).toEqual([['both'], ['both']])
    await ada.expectOk('DELETE', `/servers/${both.id}`)
    expect(await names(ada.token)).toEqual([])
  })

  it('lists your own servers before public servers of others, however many there are', async () => {
    const { db } = patchbay.services
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })
    const data = Array.from({ length: 1_000 }, (_, index) => ({
      organizationId,
      ownerId: ada.userId,
      name: `Crowd ${index}`,
      access: 'public' as const,
    }))
    await db.server.createMany({ data })
    const servers = await discover(ada.token)
    expect(servers).toHaveLength(1_000)
    expect(
      servers
        .slice(0, 2)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['organization', 'private'])
    expect(await discover(undefined)).toHaveLength(1_000)
  })
})
