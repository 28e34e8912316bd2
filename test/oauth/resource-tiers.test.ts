import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { INITIALIZE } from '../mcp/messages.ts'
import { postStateless } from '../mcp/wire.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { runPatchbay } from '../support/world.ts'
import { askedAt, challengeOf } from './support/resource.ts'
import { insertToken } from './support/tokens.ts'

const TIERS = ['public', 'organization', 'private'] as const
const WHO = ['owner', 'allowed user', 'member', 'stranger', 'nobody'] as const
type Tier = (typeof TIERS)[number]
type Who = (typeof WHO)[number]

/** The users who have access at each tier, for every route and both kinds of token. */
const LET_IN: Record<Tier, readonly Who[]> = {
  public: WHO,
  organization: ['owner', 'member'],
  private: ['owner', 'allowed user'],
}

/** Every route under /s/:uuid, with the status that users with access receive. */
const ROUTES: [method: string, rest: string, status: number][] = [
  ['POST', '', 200],
  ['GET', '', 400],
  ['DELETE', '', 400],
  ['GET', '/sse', 200],
  ['POST', '/messages?sessionId=x', 404],
  ['PUT', '', 405],
  ['HEAD', '', 405],
  ['PATCH', '/sse', 405],
  ['GET', '/messages', 405],
]

const Found = z.object({ servers: z.array(z.object({ name: z.string(), base_url: z.string() })) })

const users = new Map<Who, ApiClient & { userId: string }>()
const serverIds = new Map<Tier, string>()
/** Tokens by user, kind and tier. */
const tokens = new Map<string, string>()

const patchbay = runPatchbay()
beforeAll(async () => {
  const { origin, services } = patchbay
  for (const who of WHO.filter(one => one !== 'nobody')) users.set(who, await signUp(origin))
  const owner = users.get('owner')
  if (owner === undefined) throw new Error('there is no owner')
  const { organizationId } = await services.db.membership.findFirstOrThrow({ where: { userId: owner.userId } })
  const member = users.get('member')?.userId ?? ''
  await services.db.membership.create({ data: { organizationId, userId: member, role: 'viewer' } })
  for (const access of TIERS) {
    const allowedUsers = [users.get('allowed user')?.userId]
    const { id } = await owner.create('/servers', { name: access, access, allowedUsers, description: `${access}!` })
    serverIds.set(access, id)
    for (const [who, user] of users) {
      const { token } = await insertToken(services, { origin, userId: user.userId, serverId: id })
      tokens.set(`${who} OAuth ${access}`, token)
      tokens.set(`${who} PAT ${access}`, user.token ?? '')
    }
  }
})

const urlOf = (tier: Tier) => `${patchbay.origin}/s/${serverIds.get(tier)}`

const ask = async (method: string, url: string, token: string | undefined) => {
  const response = await fetch(url, {
    method,
    headers: {
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    },
    ...(method === 'POST' ? { body: JSON.stringify(INITIALIZE()) } : {}),
  })
  await response.body?.cancel()
  return response
}

describe.each(TIERS)('a server of the tier %s', tier => {
  describe.each(['PAT', 'OAuth'])('with a %s', kind => {
    it.each(WHO)('gives %s the access of the tier on every route', async who => {
      const token = tokens.get(`${who} ${kind} ${tier}`)
      const isIn = LET_IN[tier].includes(who)
      for (const [method, rest, status] of ROUTES) {
        const response = await ask(method, urlOf(tier) + rest, token)
        const expected = isIn ? status : who === 'nobody' ? 401 : 403
        expect([method, rest, response.status]).toEqual([method, rest, expected])
        if (expected === 401) expect(challengeOf(response)).toEqual(askedAt(urlOf(tier)))
        else expect(response.headers.get('www-authenticate')).toBeNull()
      }
    })
  })

  it.each(TIERS.filter(other => other !== tier))('rejects the token for the %s server', async other => {
    for (const who of WHO.filter(one => one !== 'nobody')) {
      const token = tokens.get(`${who} OAuth ${other}`)
      for (const [method, rest, status] of ROUTES) {
        const response = await ask(method, urlOf(tier) + rest, token)
        expect([method, rest, response.status]).toEqual([method, rest, tier === 'public' ? status : 401])
        if (tier !== 'public') {
          expect(challengeOf(response)).toEqual({ error: 'invalid_token', ...askedAt(urlOf(tier)) })
        }
      }
    }
  })
})

describe('discovery', () => {
  const discover = async (token: string | undefined): Promise<string[]> => {
    const response = await fetch(`${patchbay.origin}/.well-known/mcp-servers`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
    return Found.parse(await response.json())
      .servers.map(({ name }) => name)
      .sort()
  }

  it.each(WHO)('lists for %s the servers that their personal access token may use', async who => {
    const expected = TIERS.filter(tier => LET_IN[tier].includes(who)).sort()
    expect(await discover(tokens.get(`${who} PAT public`))).toEqual(expected)
  })

  it.each(WHO)('lists for %s the one server that their OAuth token is for, and the public ones', async who => {
    for (const tier of TIERS) {
      const expected = LET_IN[tier].includes(who) ? [...new Set(['public', tier])].sort() : ['public']
      expect(await discover(tokens.get(`${who} OAuth ${tier}`))).toEqual(expected)
    }
  })
})

it('records the caller on a public server, by either kind of token, but not by a token for another server', async () => {
  const { db, recorder } = patchbay.services
  const owner = users.get('owner')
  const made = await owner?.create('/toolkits', { title: 'Toolkit' })
  const serverId = serverIds.get('public') ?? ''
  await owner?.expectOk('PUT', `/servers/${serverId}/toolkits/${made?.id}`)
  const tool = await owner?.create(`/toolkits/${made?.id}/tools`, {
    name: 't',
    method: 'GET',
    url: 'http://127.0.0.1:9/',
  })
  await owner?.create(`/servers/${serverId}/instances`, { toolId: tool?.id, name: 't' })
  const call = async (token: string | undefined) => {
    await postStateless(urlOf('public'), token, 'tools/call', { name: 't' })
    await recorder.flush()
    const last = await db.execution.findFirstOrThrow({ where: { serverId }, orderBy: { id: 'desc' } })
    return last.userId
  }
  const stranger = users.get('stranger')?.userId
  expect(await call(tokens.get('stranger PAT public'))).toBe(stranger)
  expect(await call(undefined)).toBeNull()
  expect(await call(tokens.get('stranger OAuth public'))).toBe(stranger)
  expect(await call(tokens.get('owner OAuth private'))).toBeNull()
})
