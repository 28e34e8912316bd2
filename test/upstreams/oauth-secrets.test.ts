import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createApiClient } from '../support/api-client.ts'
import { during, runPatchbay } from '../support/world.ts'
import { startOAuthFake } from './oauth-fake.ts'
import { attach, leavingLink, makePerson, startConnecting } from './oauth-support.ts'

const SECRET = 'sk-canary-4711'
/** `expires_in` in seconds, short enough to force an immediate renewal. */
const AT_ONCE = 0.002

const fake = during(() => startOAuthFake())
const other = during(() => startOAuthFake())
const patchbay = runPatchbay({ isOwn: true })
const owner = during(() => makePerson(patchbay.origin, 'front@example.com'))
const builder = during(() => makePerson(patchbay.origin, 'builder@example.com'))
beforeAll(async () => {
  const { organizationId } = await patchbay.db.membership.findFirstOrThrow({ where: { userId: owner.userId } })
  await patchbay.db.membership.create({ data: { organizationId, userId: builder.userId, role: 'builder' } })
})
beforeEach(() => {
  for (const { behave, seen, exchanges, revoked } of [fake, other]) {
    behave()
    for (const noted of [seen, exchanges, revoked]) noted.length = 0
  }
})

const SHARED = { server: { access: 'organization' } }

describe('a secret of an MCP server that uses OAuth', () => {
  const SAYS = /contains the secret "token": with OAuth, the URL is shown in the browser .* into a header instead/
  const secretUrl = () => `${fake.url}?key={{token}}`
  /** Without metadata of its own, the resource is the MCP server's URL. */
  const hideResource = () => fake.behave({ resource: () => ({ status: 404, body: {} }), challenge: () => 'Bearer' })

  /** Makes a server with a secret, whose MCP server has it in its URL and no OAuth. */
  const makeDesk = async (auth: object = { type: 'none' }, fields: object = {}) => {
    const made = await attach(owner, fake.url, auth, { ...SHARED, ...fields })
    const secret = { value: SECRET, secret: true, origins: [fake.origin] }
    await owner.expectOk('PUT', `/servers/${made.serverId}/globals/token`, secret)
    return made
  }
  /** Changes an upstream as if it had been saved before secrets in such URLs were refused. */
  const saveAsBefore = async (id: string, changes: { url: string; auth: { type: 'oauth'; per: 'server' } }) => {
    const { config } = await patchbay.db.upstream.findUniqueOrThrow({ where: { id } })
    await patchbay.db.upstream.update({
      where: { id },
      data: { config: { ...z.record(z.string(), z.json()).parse(config), ...changes } },
    })
  }
  const OAUTH = { type: 'oauth', per: 'server' } as const

  it.each([
    ['url', { transport: 'http', url: secretUrl }],
    ['url', { transport: 'sse', url: secretUrl }],
    ['urls[0]', { transport: 'http', url: () => fake.url, urls: () => [secretUrl()] }],
  ] as const)('cannot be in its %s: %j', async (path, { transport, url, ...more }) => {
    const { serverId } = await makeDesk()
    const urls = 'urls' in more ? { urls: more.urls() } : {}
    const upstream = { name: 'up', transport, url: url(), ...urls }
    const refusal = { status: 400, body: { errors: [{ path, message: expect.stringMatching(SAYS) }] } }
    const posted = { ...upstream, auth: { type: 'oauth', clientId: 'any' } }
    expect(await builder.send('POST', `/servers/${serverId}/upstreams`, posted)).toMatchObject(refusal)
    const { id } = await builder.create(`/servers/${serverId}/upstreams`, upstream)
    expect(await builder.send('PATCH', `/upstreams/${id}`, { auth: { type: 'oauth' } })).toMatchObject(refusal)
  })

  it('cannot be a global in its URL that becomes secret', async () => {
    const { serverId } = await attach(owner, secretUrl(), { type: 'oauth' })
    const made = await owner.send('PUT', `/servers/${serverId}/globals/token`, { value: SECRET, secret: true })
    expect(made).toMatchObject({ status: 400, body: { detail: expect.stringMatching(SAYS) } })
  })

  it('in a URL saved before is not shown by connecting, which is refused with the reason', async () => {
    hideResource()
    const { upstreamId } = await makeDesk()
    await saveAsBefore(upstreamId, { url: secretUrl(), auth: OAUTH })
    const seen = fake.seen.length
    const page = await startConnecting(builder.visitor, upstreamId)
    expect(page.text).not.toContain(SECRET)
    expect(page.text.replaceAll('&quot;', '"').replaceAll('&#34;', '"')).toMatch(SAYS)
    expect(page.status).toBe(409)
    expect(fake.seen.length).toBe(seen)
  })

  it('in a URL saved before is not sent to the token endpoint, to exchange a code or to renew a token', async () => {
    hideResource()
    const { serverId, upstreamId } = await makeDesk({ type: 'oauth' })
    await owner.expectOk('PUT', `/servers/${serverId}/globals/plain`, { value: SECRET })
    await owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { url: `${fake.url}?key={{plain}}` })
    const begun = leavingLink(await startConnecting(owner.visitor, upstreamId))
    const early = leavingLink(await startConnecting(owner.visitor, upstreamId))
    fake.behave({ resource: () => ({ status: 404, body: {} }), challenge: () => 'Bearer', expiresIn: AT_ONCE })
    expect((await owner.visitor.get(fake.agree(begun))).url).toContain('done=connected')
    await saveAsBefore(upstreamId, { url: secretUrl(), auth: OAUTH })
    const exchanged = fake.exchanges.length
    expect((await owner.visitor.get(fake.agree(early))).status).toBe(409)
    const upgraded = await patchbay.another()
    try {
      const there = createApiClient(upgraded.origin, owner.token)
      const { body } = await there.send('POST', `/upstreams/${upstreamId}/refresh`)
      expect(z.object({ detail: z.string() }).parse(body).detail).toMatch(SAYS)
    } finally {
      await upgraded.close()
    }
    expect(fake.exchanges.length).toBe(exchanged)
  })

  it('in a header is sent only to the MCP server, not to any OAuth endpoint', async () => {
    const { upstreamId } = await makeDesk({ type: 'oauth' }, { headers: { 'x-key': '{{token}}' } })
    fake.behave({ resource: () => ({ authorization_servers: [other.origin] }) })
    other.behave({ expiresIn: AT_ONCE })
    await owner.visitor.get(other.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
    await owner.send('POST', `/upstreams/${upstreamId}/refresh`)
    expect(other.renewals()).toBeGreaterThan(0)
    expect(JSON.stringify(other.seen)).not.toContain(SECRET)
    const told = fake.seen.filter(seen => JSON.stringify(seen).includes(SECRET)).map(({ url: path }) => path)
    expect(new Set(told)).toEqual(new Set(['/mcp']))
  })
})
