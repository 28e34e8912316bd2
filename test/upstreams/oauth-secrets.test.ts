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
let organizationId: string
beforeAll(async () => {
  organizationId = (await patchbay.db.membership.findFirstOrThrow({ where: { userId: owner.userId } })).organizationId
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
      // The account was connected with the secret in its URL.
      const renewals = fake.renewals()
      await there.expectOk('PATCH', `/upstreams/${upstreamId}`, { url: fake.url })
      await there.send('POST', `/upstreams/${upstreamId}/refresh`)
      expect(fake.renewals()).toBe(renewals)
    } finally {
      await upgraded.close()
    }
    expect(fake.exchanges.length).toBe(exchanged)
  })

  /** Returns the paths at which a server was sent the secret. */
  const toldAt = ({ seen }: typeof fake) =>
    new Set(seen.filter(one => JSON.stringify(one).includes(SECRET)).map(({ url }) => url))
  const IN_HEADER = { headers: { 'x-key': '{{token}}' } }
  const RESOURCE_PATH = '/.well-known/oauth-protected-resource/mcp'

  it('in a header goes along with all OAuth requests to the origin of the MCP server', async () => {
    const { upstreamId } = await makeDesk({ type: 'oauth' }, IN_HEADER)
    fake.behave({ expiresIn: AT_ONCE })
    await owner.visitor.get(fake.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
    await owner.send('POST', `/upstreams/${upstreamId}/refresh`)
    expect(fake.renewals()).toBeGreaterThan(0)
    await owner.expectOk('DELETE', `/upstreams/${upstreamId}/account`)
    await expect.poll(() => fake.revoked.length).toBeGreaterThan(0)
    const paths = ['/mcp', RESOURCE_PATH, '/.well-known/oauth-authorization-server', '/register', '/token', '/revoke']
    expect(toldAt(fake)).toEqual(new Set(paths))
  })

  it('in a header is not sent to an authorization server of another origin', async () => {
    const { upstreamId } = await makeDesk({ type: 'oauth' }, IN_HEADER)
    fake.behave({ resource: () => ({ authorization_servers: [other.origin] }) })
    other.behave({ expiresIn: AT_ONCE })
    await owner.visitor.get(other.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
    await owner.send('POST', `/upstreams/${upstreamId}/refresh`)
    expect(other.renewals()).toBeGreaterThan(0)
    expect(toldAt(other)).toEqual(new Set())
    expect(toldAt(fake)).toEqual(new Set(['/mcp', RESOURCE_PATH]))
  })

  it('in a header is not sent to endpoints that an authorization server of another origin names', async () => {
    const { upstreamId } = await makeDesk({ type: 'oauth' }, IN_HEADER)
    const endpoints = {
      registration_endpoint: `${fake.origin}/register`,
      token_endpoint: `${fake.origin}/token`,
      revocation_endpoint: `${fake.origin}/revoke`,
    }
    fake.behave({ resource: () => ({ authorization_servers: [other.origin] }), expiresIn: AT_ONCE })
    other.behave({ server: () => endpoints })
    const begun = leavingLink(await startConnecting(owner.visitor, upstreamId))
    await owner.visitor.get(fake.agree(begun, { iss: other.origin }))
    await owner.send('POST', `/upstreams/${upstreamId}/refresh`)
    expect(fake.renewals()).toBeGreaterThan(0)
    await owner.expectOk('DELETE', `/upstreams/${upstreamId}/account`)
    await expect.poll(() => fake.revoked.length).toBeGreaterThan(0)
    expect(fake.seen.map(({ url }) => url)).toContain('/register')
    expect(toldAt(fake)).toEqual(new Set(['/mcp', RESOURCE_PATH]))
    expect(toldAt(other)).toEqual(new Set())
  })

  it('in a header does not follow a redirect of the metadata to another origin', async () => {
    const { upstreamId } = await makeDesk({ type: 'oauth' }, IN_HEADER)
    const headers = { location: `${other.origin}${RESOURCE_PATH}` }
    fake.behave({ resource: () => ({ status: 307, headers, body: {} }) })
    expect((await startConnecting(owner.visitor, upstreamId)).status).toBe(503)
    expect(toldAt(fake)).toEqual(new Set(['/mcp', RESOURCE_PATH]))
    expect(other.seen.filter(({ url }) => url === RESOURCE_PATH)).toEqual([])
  })

  it('in a header is not sent once its origins no longer include that of the MCP server', async () => {
    const { serverId, upstreamId } = await makeDesk({ type: 'oauth' }, IN_HEADER)
    fake.behave({ expiresIn: AT_ONCE })
    await owner.visitor.get(fake.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
    const begun = leavingLink(await startConnecting(owner.visitor, upstreamId))
    // Resolves when all lists have been fetched, so that no token is renewed for them later.
    await owner.send('POST', `/upstreams/${upstreamId}/refresh`)
    await owner.expectOk('PUT', `/servers/${serverId}/globals/token`, {
      value: SECRET,
      secret: true,
      origins: [other.origin],
    })
    fake.seen.length = 0
    expect((await owner.visitor.get(fake.agree(begun))).status).toBe(409)
    expect((await startConnecting(owner.visitor, upstreamId)).status).toBe(409)
    await owner.send('POST', `/upstreams/${upstreamId}/refresh`)
    // The connection that ends may still have sent requests to the MCP server itself.
    expect([...toldAt(fake)].filter(path => path !== '/mcp')).toEqual([])
  })
})

describe('a client secret that has not been sent anywhere yet', () => {
  const CLIENT = { type: 'oauth', clientId: 'brought', clientSecret: SECRET }
  const entryOf = async (upstreamId: string) => {
    const { body } = await owner.expectOk('GET', `/upstreams/${upstreamId}`)
    const schema = z.object({
      auth: z.object({ clientSecretSetAt: z.string().nullable() }),
      warnings: z.array(z.string()),
    })
    const { auth, warnings } = schema.parse(body)
    return { isSet: auth.clientSecretSetAt !== null, warnings }
  }
  const SAYS = () => `If ${other.origin} is correct, enter the secret again.`
  const sentTo = ({ exchanges }: typeof fake) =>
    exchanges.map(({ form, authorization = '' }) => {
      const basic = Buffer.from(authorization.slice('Basic '.length), 'base64').toString()
      return `${form} ${basic}`
    })

  it('is not sent to another origin to which a builder moves the MCP server', async () => {
    const { serverId, upstreamId } = await attach(owner, fake.url, CLIENT, SHARED)
    expect(await entryOf(upstreamId)).toEqual({ isSet: true, warnings: [] })
    await builder.expectOk('PATCH', `/upstreams/${upstreamId}`, { url: other.url })
    const refused = await startConnecting(builder.visitor, upstreamId)
    expect(refused.status).toBe(409)
    expect(refused.text).toContain(`If ${other.origin} is correct, a builder`)
    expect(await entryOf(upstreamId)).toEqual({ isSet: false, warnings: [expect.stringContaining(SAYS())] })
    const page = await owner.visitor.get(`/servers/${serverId}/sources/upstreams/${upstreamId}`)
    expect(page.text).toContain(SAYS())
    expect(page.text).not.toContain('Leave empty to keep it')
    // Saving again without the secret does not move it either.
    await builder.expectOk('PATCH', `/upstreams/${upstreamId}`, { auth: { type: 'oauth', clientId: 'brought' } })
    expect((await startConnecting(builder.visitor, upstreamId)).status).toBe(409)
    expect(sentTo(other).join()).not.toContain(SECRET)

    const auth = { ...CLIENT, clientSecret: 'of the builder' }
    await builder.expectOk('PATCH', `/upstreams/${upstreamId}`, { auth })
    expect(await entryOf(upstreamId)).toEqual({ isSet: true, warnings: [] })
    await builder.visitor.get(other.agree(leavingLink(await startConnecting(builder.visitor, upstreamId))))
    expect(sentTo(other).at(-1)).toContain('of the builder')
  })

  it('is sent to another origin if it is entered in the same request', async () => {
    const { upstreamId } = await attach(owner, fake.url, { ...CLIENT, clientSecret: 'the old one' }, SHARED)
    await owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { url: other.url, auth: CLIENT })
    expect(await entryOf(upstreamId)).toEqual({ isSet: true, warnings: [] })
    const page = await owner.visitor.get(other.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
    expect(page.url).toContain('done=connected')
    expect(sentTo(other).at(-1)).toContain(SECRET)
  })

  it('is not sent to another origin to which a builder moves the MCP server with a global', async () => {
    const { serverId, upstreamId } = await attach(owner, 'https://mcp.example.com/mcp', { type: 'oauth' }, SHARED)
    const setHost = (value: string) => builder.expectOk('PUT', `/servers/${serverId}/globals/host`, { value })
    await setHost(fake.origin)
    await owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { url: '{{host}}/mcp', auth: CLIENT })
    const begun = leavingLink(await startConnecting(builder.visitor, upstreamId))
    await setHost(other.origin)
    expect((await startConnecting(builder.visitor, upstreamId)).status).toBe(409)
    expect((await entryOf(upstreamId)).warnings).toEqual([expect.stringContaining(SAYS())])
    const exchanged = fake.exchanges.length
    expect((await builder.visitor.get(fake.agree(begun))).status).toBe(409)
    expect(fake.exchanges.length).toBe(exchanged)
    // It has not been sent anywhere, so it can be used again at the address that it was entered for.
    await setHost(fake.origin)
    expect((await entryOf(upstreamId)).warnings).toEqual([])
    await owner.visitor.get(fake.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
    expect(sentTo(fake).at(-1)).toContain(SECRET)
  })

  it('entered while a missing global decided the address must be entered again', async () => {
    const { serverId, upstreamId } = await attach(owner, '{{host}}/mcp', CLIENT, SHARED)
    expect(await entryOf(upstreamId)).toEqual({ isSet: true, warnings: [] })
    await builder.expectOk('PUT', `/servers/${serverId}/globals/host`, { value: other.origin })
    expect((await entryOf(upstreamId)).isSet).toBe(false)
    expect((await startConnecting(builder.visitor, upstreamId)).status).toBe(409)
  })

  it('is not sent to renew or revoke the token of an account that was connected at another origin', async () => {
    const bait = { type: 'oauth', clientId: 'brought' }
    const { upstreamId } = await attach(builder, other.url, bait, {
      server: { access: 'organization', organizationId },
    })
    other.behave({ expiresIn: AT_ONCE })
    await builder.visitor.get(other.agree(leavingLink(await startConnecting(builder.visitor, upstreamId))))
    await owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { url: fake.url, auth: CLIENT })
    const renewals = other.renewals()
    await owner.send('POST', `/upstreams/${upstreamId}/refresh`)
    expect(other.renewals()).toBe(renewals)
    await owner.expectOk('DELETE', `/upstreams/${upstreamId}/account`)
    await expect.poll(() => other.revoked.length).toBe(2)
    expect(sentTo(other).join()).not.toContain(SECRET)
    const revocations = other.seen.filter(({ url: path }) => path === '/revoke')
    for (const { headers, body } of revocations) {
      const basic = Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString()
      expect(`${basic} ${body}`).not.toContain(SECRET)
    }
  })
})
