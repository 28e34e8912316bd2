import { beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { during, runPatchbay } from '../support/world.ts'
import { type Behaviour, startOAuthFake } from './oauth-fake.ts'
import { attach, leavingLink, makePerson, startConnecting } from './oauth-support.ts'

const fake = during(() => startOAuthFake())
const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
const owner = during(() => makePerson(patchbay.origin, 'front@example.com'))
beforeEach(() => fake.behave())

const attachNew = async (auth: object = { type: 'oauth' }) => (await attach(owner, fake.url, auth)).upstreamId
const accounts = (upstreamId: string): Promise<number> =>
  patchbay.services.db.upstreamAccount.count({ where: { upstreamId } })

const METADATA: readonly { name: string; behaviour: Partial<Behaviour>; says: RegExp }[] = [
  {
    name: 'a script where browsers are to be sent',
    behaviour: { server: () => ({ authorization_endpoint: 'javascript:alert(1)' }) },
    says: /metadata of its authorization server/,
  },
  {
    name: 'plain http where browsers are to be sent',
    behaviour: { server: () => ({ authorization_endpoint: 'http://auth.example.com/authorize' }) },
    says: /authorization_endpoint that is not allowed/,
  },
  {
    name: 'credentials in the address where browsers are to be sent',
    behaviour: { server: () => ({ authorization_endpoint: 'https://user:word@auth.example.com/' }) },
    says: /authorization_endpoint that is not allowed/,
  },
  {
    name: 'plain http where tokens are given out',
    behaviour: { server: () => ({ token_endpoint: 'http://auth.example.com/token' }) },
    says: /token_endpoint that is not allowed/,
  },
  {
    name: 'plain http where clients register',
    behaviour: { server: () => ({ registration_endpoint: 'http://auth.example.com/register' }) },
    says: /registration_endpoint that is not allowed/,
  },
  {
    name: 'another issuer than was asked for',
    behaviour: { server: () => ({ issuer: 'https://auth.example.com' }) },
    says: /IssuerMismatch/,
  },
  {
    name: 'no PKCE',
    behaviour: { server: () => ({ code_challenge_methods_supported: undefined }) },
    says: /PKCE with S256/,
  },
  {
    name: 'PKCE in plain text alone',
    behaviour: { server: () => ({ code_challenge_methods_supported: ['plain'] }) },
    says: /PKCE with S256/,
  },
  {
    name: 'no codes',
    behaviour: { server: () => ({ response_types_supported: ['token'] }) },
    says: /does not support the authorization code flow/,
  },
  {
    name: 'a million characters',
    behaviour: { server: () => ({ service_documentation: 'x'.repeat(1_000_000) }) },
    says: /larger than/,
  },
  {
    name: 'more than is kept',
    behaviour: { server: () => ({ scopes_supported: Array.from({ length: 500 }, (_, index) => `s${index}`) }) },
    says: /too large/,
  },
  { name: 'a web page', behaviour: { server: () => ({ body: '<html>' }) }, says: /response is invalid/ },
  { name: 'nothing', behaviour: { server: () => ({ status: 404, body: '' }) }, says: /no metadata/ },
  { name: 'an error of its own', behaviour: { server: () => ({ status: 500, body: '' }) }, says: /could not be read/ },
  {
    name: 'a way elsewhere',
    behaviour: { server: origin => ({ status: 302, headers: { location: `${origin}/elsewhere` }, body: '' }) },
    says: /Cannot connect to the MCP server/,
  },
  {
    name: 'the metadata of another resource',
    behaviour: { resource: () => ({ resource: 'https://mcp.example.com/mcp' }) },
    says: /another resource/,
  },
  {
    name: 'an authorization server on a private address',
    behaviour: { resource: () => ({ authorization_servers: ['https://10.1.2.3'] }) },
    says: /10\.1\.2\.3 is a private address/,
  },
  {
    name: 'an authorization server where clouds hand out credentials',
    behaviour: { resource: () => ({ authorization_servers: ['https://169.254.169.254'] }) },
    says: /cloud metadata address/,
  },
  {
    name: 'an authorization server by plain http',
    behaviour: { resource: () => ({ authorization_servers: ['http://auth.example.com'] }) },
    says: /must use https/,
  },
  {
    name: 'an authorization server that is a file',
    behaviour: { resource: () => ({ authorization_servers: ['file:///etc/passwd'] }) },
    says: /must use https|response is invalid/,
  },
  {
    name: 'metadata on a private address',
    behaviour: { challenge: () => 'Bearer resource_metadata="https://192.168.0.1/x"' },
    says: /192\.168\.0\.1 is a private address/,
  },
  {
    name: 'metadata by plain http elsewhere',
    behaviour: { challenge: () => 'Bearer resource_metadata="http://auth.example.com/x"' },
    says: /address of its metadata is not allowed/,
  },
  {
    name: 'Patchbay itself as the authorization server',
    behaviour: { resource: () => ({ authorization_servers: [patchbay.origin] }) },
    says: /Patchbay itself/,
  },
  {
    name: 'no registration',
    behaviour: { server: () => ({ registration_endpoint: undefined }) },
    says: /enter the client ID here/,
  },
  {
    name: 'a refused registration',
    behaviour: {
      registration: { status: 400, body: { error: 'invalid_redirect_uri', error_description: 'secret words' } },
    },
    says: /did not register Patchbay/,
  },
  { name: 'a web page for a registration', behaviour: { registration: { body: '<html>' } }, says: /did not register/ },
  {
    name: 'a huge client ID',
    behaviour: {
      registration: { status: 201, body: { client_id: 'x'.repeat(40_000), redirect_uris: ['https://a.example/'] } },
    },
    says: /an unusable registration/,
  },
]

describe('connecting an upstream whose metadata names', () => {
  it.each(METADATA)('$name is refused with the reason, without a redirect', async ({ behaviour, says }) => {
    const upstreamId = await attachNew()
    fake.behave(behaviour)
    const page = await startConnecting(owner.visitor, upstreamId)
    expect(page.status).toBe(503)
    expect(page.text).toMatch(says)
    expect(page.text).not.toContain('javascript:')
    expect(page.text).not.toContain('secret words')
    expect(page.text).not.toContain('rel="noreferrer"')
  })

  it('another host for the browser requires a confirmation', async () => {
    const upstreamId = await attachNew()
    fake.behave({ server: () => ({ authorization_endpoint: 'https://login.example.com/authorize?tenant=1' }) })
    const page = await startConnecting(owner.visitor, upstreamId)
    expect(page.status).toBe(200)
    expect(page.text).toContain('Continue only if you trust this host')
    expect(new URL(leavingLink(page)).host).toBe('login.example.com')
  })
})

describe('an authorization request', () => {
  it('contains only what the page shows, whatever its URL contains', async () => {
    const upstreamId = await attachNew()
    const says =
      'tenant=1&scope=admin&prompt=none&request_uri=https://evil.test/r&response_mode=fragment&state=s&client_id=c'
    fake.behave({
      challenge: origin => `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
      server: origin => ({ authorization_endpoint: `${origin}/authorize?${says}` }),
    })
    const page = await startConnecting(owner.visitor, upstreamId)
    expect(page.text).toContain('the default')
    const { searchParams } = new URL(leavingLink(page))
    expect([...searchParams.keys()].toSorted()).toEqual([
      'client_id',
      'code_challenge',
      'code_challenge_method',
      'redirect_uri',
      'resource',
      'response_type',
      'state',
      'tenant',
    ])
    expect(searchParams.get('client_id')).toMatch(/^c-/)
  })

  it('names the resource, uses PKCE and has one redirect URI', async () => {
    const { searchParams } = new URL(leavingLink(await startConnecting(owner.visitor, await attachNew())))
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      resource: fake.url,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: `${patchbay.settings.baseUrl}/connect/callback`,
      state: expect.stringMatching(/^[\w-]{43}$/),
      scope: 'read',
    })
  })

  it('uses the registered client, or a new one if that was unused for too long', async () => {
    const upstreamId = await attachNew()
    const begin = async () =>
      new URL(leavingLink(await startConnecting(owner.visitor, upstreamId))).searchParams.get('client_id')
    const first = await begin()
    expect(await begin()).toBe(first)
    const yesterday = new Date(Date.now() - 24 * 60 * 60_000)
    await patchbay.services.db.upstreamClient.update({ where: { upstreamId }, data: { updatedAt: yesterday } })
    expect(await begin()).not.toBe(first)
  })

  it('uses the scopes and the client that the builder configured', async () => {
    const secret = 's3cret+with/odd=characters and blanks'
    const auth = { type: 'oauth', clientId: 'brought by hand', clientSecret: secret, scopes: ['parcels:read', 'x'] }
    const { upstreamId, serverId } = await attach(owner, fake.url, auth)
    const answer = await owner.expectOk('GET', `/upstreams/${upstreamId}`)
    expect(answer.body).toMatchObject({
      auth: { clientId: 'brought by hand', clientSecretSetAt: expect.any(String), scopes: ['parcels:read', 'x'] },
    })
    const asked = fake.seen.length
    const href = leavingLink(await startConnecting(owner.visitor, upstreamId))
    expect(new URL(href).searchParams.get('client_id')).toBe('brought by hand')
    expect(new URL(href).searchParams.get('scope')).toBe('parcels:read x')
    expect(fake.seen.slice(asked).map(({ url }) => url)).not.toContain('/register')
    await owner.visitor.get(fake.agree(href))
    const [, encoded = ''] = /^Basic (.+)$/.exec(fake.exchanges.at(-1)?.authorization ?? '') ?? []
    expect(decodeURIComponent(Buffer.from(encoded, 'base64').toString().replaceAll('+', ' '))).toContain('s3cret')
    expect(await accounts(upstreamId)).toBe(1)

    const { db } = patchbay.services
    const kept = JSON.stringify([
      await db.upstream.findMany(),
      await db.upstreamClient.findMany(),
      await db.auditEntry.findMany(),
    ])
    const page = await owner.visitor.get(`/servers/${serverId}/sources/upstreams/${upstreamId}`)
    expect(page.text).toContain('Leave empty to keep it')
    for (const text of [kept, JSON.stringify(answer.body), page.text]) expect(text).not.toContain('s3cret')
  })
})

describe('a client secret that the builder configured', () => {
  const other = during(() => startOAuthFake())

  it('is sent only to the authorization server where it was first used, until it is entered again', async () => {
    const auth = { type: 'oauth', clientId: 'brought', clientSecret: 'for the first alone' }
    const { upstreamId } = await attach(owner, fake.url, auth)
    const readTime = async () => {
      const { body } = await owner.expectOk('GET', `/upstreams/${upstreamId}`)
      return z.object({ auth: z.object({ clientSecretSetAt: z.string() }) }).parse(body).auth.clientSecretSetAt
    }
    const setAt = await readTime()
    const begin = () => startConnecting(owner.visitor, upstreamId)
    const early = leavingLink(await begin())
    await owner.visitor.get(fake.agree(leavingLink(await begin())))
    expect(await accounts(upstreamId)).toBe(1)
    expect(await readTime()).toBe(setAt)

    fake.behave({ resource: () => ({ authorization_servers: [other.origin] }) })
    const refused = await begin()
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('but the client secret was used with')
    expect(refused.text).toContain(other.origin)
    await owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { auth: { ...auth, clientSecret: 'for both' } })
    // An authorization that was started with the previous secret fails.
    const stale = fake.exchanges.length
    expect((await owner.visitor.get(fake.agree(early))).status).toBe(409)
    expect(fake.exchanges.length).toBe(stale)
    const agreed = await owner.visitor.get(other.agree(leavingLink(await begin())))
    expect(agreed.url).toContain('done=connected')
    expect(JSON.stringify(other.exchanges)).not.toContain('first')
    expect(Buffer.from(other.exchanges[0]?.authorization?.slice(6) ?? '', 'base64').toString()).toContain('for both')

    fake.behave()
    expect((await begin()).status).toBe(409)
  })

  it('is not used for an account at an authorization server where it was never used', async () => {
    const auth = { type: 'oauth', clientId: 'brought', clientSecret: 'the old one' }
    const { upstreamId } = await attach(owner, fake.url, auth)
    await owner.visitor.get(fake.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
    const seen = fake.seen.length
    await owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { auth: { ...auth, clientSecret: 'the new one' } })
    fake.behave({ resource: () => ({ authorization_servers: [other.origin] }) })
    await owner.visitor.get(other.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
    const revocations = () => fake.seen.slice(seen).filter(({ url }) => url === '/revoke')
    await vi.waitFor(() => expect(revocations()).toHaveLength(2))
    for (const { headers } of revocations()) {
      expect(Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString()).toContain('the+old+one')
    }
  })
})

const ANSWERS: readonly { name: string; changes: Record<string, string | undefined>; says: RegExp }[] = [
  { name: 'of another issuer', changes: { iss: 'https://auth.example.com' }, says: /a different authorization server/ },
  { name: 'without its issuer', changes: { iss: undefined }, says: /a different authorization server/ },
  { name: 'without a code', changes: { code: undefined }, says: /no authorization code/ },
  {
    name: 'with an error',
    changes: { code: undefined, error: 'access_denied' },
    says: /refused the request \(access_denied\)/,
  },
  {
    name: 'with an error that is markup',
    changes: { code: undefined, error: '<script>alert(1)</script>' },
    says: /authorization server refused the request\. Start again/,
  },
  {
    name: 'with an error of another issuer',
    changes: { code: undefined, error: 'access_denied', iss: 'https://auth.example.com' },
    says: /a different authorization server/,
  },
  { name: 'without a state', changes: { state: undefined }, says: /not started in this browser/ },
  { name: 'with another state', changes: { state: 'made up' }, says: /not started in this browser/ },
]

describe('a response', () => {
  it.each(ANSWERS)('$name connects nothing, and its code is shown to nobody', async ({ changes, says }) => {
    const upstreamId = await attachNew()
    const href = leavingLink(await startConnecting(owner.visitor, upstreamId))
    const asked = fake.exchanges.length
    const page = await owner.visitor.get(fake.agree(href, changes))
    expect(page.status).toBe(400)
    expect(page.text).toMatch(says)
    expect(page.text).not.toContain('<script>alert')
    expect(fake.exchanges.length).toBe(asked)
    expect(await accounts(upstreamId)).toBe(0)
  })
})

describe('an authorization in progress', () => {
  it.each([
    ['an account of their own', 'caller', 'server'],
    ['the account of all', 'server', 'caller'],
  ])('%s connects nothing after the upstream changed', async (_, per, changed) => {
    const upstreamId = await attachNew({ type: 'oauth', per })
    const href = leavingLink(await startConnecting(owner.visitor, upstreamId))
    await owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { auth: { type: 'oauth', per: changed } })
    const asked = fake.exchanges.length
    const page = await owner.visitor.get(fake.agree(href))
    expect(page.status).toBe(409)
    expect(page.text).toContain('account setting changed while you were connecting')
    expect(fake.exchanges.length).toBe(asked)
    expect(await accounts(upstreamId)).toBe(0)
  })
})

const good = { access_token: 'good-enough', token_type: 'Bearer' }
const TOKENS: readonly { name: string; token: NonNullable<Behaviour['token']> }[] = [
  { name: 'a web page', token: { body: '<html>' } },
  { name: 'an error', token: { status: 400, body: { error: 'invalid_grant', error_description: 'leaked words' } } },
  { name: 'an error without form', token: { status: 500, body: 'leaked words' } },
  { name: 'a token that ends a header', token: { body: { ...good, access_token: 'a\r\nx-evil: leaked words' } } },
  { name: 'a token of blanks', token: { body: { ...good, access_token: ' ' } } },
  { name: 'an empty token', token: { body: { ...good, access_token: '' } } },
  { name: 'a token of another type', token: { body: { ...good, token_type: 'mac' } } },
  { name: 'a token without a type', token: { body: { access_token: 'leaked words' } } },
  { name: 'a million characters', token: { body: { ...good, access_token: 'a'.repeat(1_000_000) } } },
  {
    name: 'a way elsewhere',
    token: { status: 307, headers: { location: 'https://auth.example.com/token' }, body: good },
  },
  { name: 'a list', token: { body: [good] } },
]

describe('an authorization server that returns', () => {
  it.each(TOKENS)('$name instead of tokens connects nothing', async ({ token }) => {
    const upstreamId = await attachNew()
    const href = leavingLink(await startConnecting(owner.visitor, upstreamId))
    fake.behave({ token })
    const page = await owner.visitor.get(fake.agree(href))
    expect(page.status).toBe(400)
    expect(page.text).toContain('was not connected')
    expect(page.text).not.toContain('leaked words')
    expect(await accounts(upstreamId)).toBe(0)
  })

  it.each([-5, 0, 1e300])('tokens that last %d seconds is connected', async seconds => {
    const upstreamId = await attachNew()
    const href = leavingLink(await startConnecting(owner.visitor, upstreamId))
    fake.behave({ expiresIn: seconds })
    expect((await owner.visitor.get(fake.agree(href))).status).toBe(200)
    expect(await accounts(upstreamId)).toBe(1)
  })
})

describe('an upstream with an account', () => {
  it.each([
    [{ transport: 'stdio', command: 'x', url: undefined }, 'auth'],
    [{ headers: { Authorization: 'Bearer x' } }, 'headers.Authorization'],
    [{ auth: { type: 'oauth', clientSecret: 'x' } }, 'auth.clientId'],
    [{ auth: { type: 'oauth', per: 'everybody' } }, 'auth.per'],
    [{ auth: { type: 'oauth', scopes: ['two words'] } }, 'auth.scopes[0]'],
    [{ auth: { type: 'magic' } }, 'auth.type'],
  ])('cannot have %j', async (changes, path) => {
    const { id } = await owner.create('/servers', { name: 'Refused', access: 'private' })
    const body = { name: 'back', transport: 'http', url: fake.url, auth: { type: 'oauth' }, ...changes }
    const answer = await owner.send('POST', `/servers/${id}/upstreams`, body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ errors: expect.arrayContaining([expect.objectContaining({ path })]) })
  })

  it('identifies Patchbay by its metadata document if the base URL is https', async () => {
    const secure = await startTestApp({ env: { PATCHBAY_BASE_URL: 'https://patch.example.com' } })
    try {
      const response = await fetch(`${secure.origin}/connect/client.json`)
      const document: unknown = await response.json()
      expect(document).toMatchObject({
        client_id: 'https://patch.example.com/connect/client.json',
        redirect_uris: ['https://patch.example.com/connect/callback'],
        token_endpoint_auth_method: 'none',
      })
      const builder = await signUp(secure.origin)
      const { upstreamId } = await attach(builder, fake.url, { type: 'oauth' })
      const actor = await secure.services.accounts.findActorByToken(builder.token ?? '')
      if (actor === undefined) throw new Error('nobody has that token')
      fake.behave({ server: () => ({ client_id_metadata_document_supported: true, registration_endpoint: undefined }) })
      const { authorizationUrl } = await secure.services.upstreamAccounts.start(actor, upstreamId)
      expect(new URL(authorizationUrl).searchParams.get('client_id')).toBe(
        z.looseObject({ client_id: z.string() }).parse(document).client_id,
      )
    } finally {
      await secure.close()
    }
  })
})
