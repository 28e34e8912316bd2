import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp } from '../../support/api-client.ts'
import { startTestApp } from '../../support/app.ts'
import { runPatchbay } from '../../support/world.ts'

const TIERS = ['public', 'organization', 'private'] as const

/** The registry schema's rules (2025-12-11) for the fields that Patchbay sends. */
const httpUrl = z.string().regex(/^https?:\/\/[^\s]+$/)
const RegistryEntry = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+$/),
  remotes: z.array(z.strictObject({ type: z.enum(['streamable-http', 'sse']), url: httpUrl })),
})

describe('public documents', () => {
  const patchbay = runPatchbay()
  let ada: ApiClient
  const ids = new Map<string, string>()

  beforeAll(async () => {
    ada = await signUp(patchbay.origin)
    for (const access of TIERS) {
      ids.set(access, (await ada.create('/servers', { name: `The ${access} one`, access })).id)
    }
  })

  const resourcePath = (tier: string, rest = '') => `/.well-known/oauth-protected-resource/s/${ids.get(tier)}${rest}`
  const get = (path: string, init: RequestInit = {}) => fetch(`${patchbay.origin}${path}`, init)

  describe('about a server as a protected resource (RFC 9728)', () => {
    it.each(TIERS)(
      'are the same for a %s server over both transports; only a public one includes its name',
      async tier => {
        const expected = {
          resource: `${patchbay.origin}/s/${ids.get(tier)}`,
          ...(tier === 'public' && { resource_name: 'The public one' }),
          authorization_servers: [patchbay.origin],
          scopes_supported: ['mcp:read', 'mcp:call'],
          bearer_methods_supported: ['header'],
        }
        for (const rest of ['', '/sse']) {
          const response = await get(resourcePath(tier, rest))
          expect([response.status, await response.json()]).toEqual([200, expected])
          expect(response.headers.get('content-type')).toMatch(/^application\/json/)
          expect(response.headers.get('cache-control')).toBe('public, max-age=60')
        }
      },
    )

    it('name an issuer whose own metadata names it, too (RFC 8414 §3.3)', async () => {
      const response = await get('/.well-known/oauth-authorization-server')
      expect(await response.json()).toMatchObject({ issuer: patchbay.origin })
    })

    it.each([
      ['127.0.0.1', ''],
      ['[::1]', ''],
      ['localhost', '/'],
      ['127.0.0.1', '?list=3'],
      ['localhost', '/?list=3'],
    ])('name it as it was asked for, under %s with "%s" after the id, but not the issuer', async (name, ending) => {
      const { port } = new URL(patchbay.origin)
      const headers = { host: `${name}:${port}` }
      const answer = await patchbay.http.inject({ url: resourcePath('private', ending), headers })
      expect(answer.json()).toMatchObject({
        resource: `http://${name}:${port}/s/${ids.get('private')}${ending}`,
        authorization_servers: [patchbay.origin],
      })
    })

    it('ignore a Host with another port, and any other query', async () => {
      const answer = await patchbay.http.inject({
        url: resourcePath('private', '?list=x'),
        headers: { host: 'localhost:1' },
      })
      expect(answer.json()).toMatchObject({ resource: `${patchbay.origin}/s/${ids.get('private')}` })
    })

    it.each(['', '/s', `/s/${randomUUID()}`, `/s/${randomUUID()}/sse`, '/s/none', '/s/..', '/sse'])(
      'return 404 at %j',
      async path => {
        const response = await get(`/.well-known/oauth-protected-resource${path}`)
        expect(response.status).toBe(404)
        expect(response.headers.get('cache-control') ?? 'no-store').toBe('no-store')
      },
    )

    it('at the root, point to the document of each server', async () => {
      const response = await get('/.well-known/oauth-protected-resource')
      const { detail } = z.object({ detail: z.string() }).parse(await response.json())
      expect(detail).toContain('/.well-known/oauth-protected-resource/s/<id>')
    })

    it('return 404 once their server is deleted', async () => {
      const { id } = await ada.create('/servers', { name: 'Gone' })
      const path = `/.well-known/oauth-protected-resource/s/${id}`
      expect((await get(path)).status).toBe(200)
      await ada.expectOk('DELETE', `/servers/${id}`)
      expect((await get(path)).status).toBe(404)
    })
  })

  describe('about a public server for the registry (server.json)', () => {
    const read = async (id: string) => {
      const response = await get(`/.well-known/mcp-servers/${id}/server.json`)
      expect(response.status).toBe(200)
      return RegistryEntry.parse(await response.json())
    }

    it('conform to the schema and name both transports', async () => {
      const id = ids.get('public') ?? ''
      const url = `${patchbay.origin}/s/${id}`
      expect(await read(id)).toMatchObject({
        name: `localhost/${id}`,
        title: 'The public one',
        remotes: [
          { type: 'streamable-http', url },
          { type: 'sse', url: `${url}/sse` },
        ],
      })
    })

    it.each([
      ['nothing', undefined],
      ['blanks', ' \n\t '],
      ['several lines', 'One\n\n  two\tthree'],
      ['a hundred characters', 'x'.repeat(100)],
      ['a hundred and one', 'x'.repeat(101)],
      ['ten thousand characters outside the BMP', '🧰'.repeat(5_000)],
    ])('keep to it with %s as the description', async (_what, description) => {
      const { id } = await ada.create('/servers', { name: '🧰'.repeat(100), access: 'public', description })
      const entry = await read(id)
      expect([...entry.description].length).toBeLessThanOrEqual(100)
      expect(entry.description).not.toMatch(/[\n\t]/)
    })

    it('have a higher version after a change', async () => {
      const { id } = await ada.create('/servers', { name: 'Changing', access: 'public' })
      const patchOf = ({ version }: z.infer<typeof RegistryEntry>) => Number(version.split('.')[2])
      const before = patchOf(await read(id))
      const changed = async () => {
        await ada.expectOk('PATCH', `/servers/${id}`, { description: 'Changed' })
        return patchOf(await read(id))
      }
      // Versions count seconds.
      await expect.poll(changed).toBeGreaterThan(before)
    })

    it.each(['organization', 'private', 'unknown'])('do not exist for a server that is %s', async tier => {
      const response = await get(`/.well-known/mcp-servers/${ids.get(tier) ?? randomUUID()}/server.json`)
      expect(response.status).toBe(404)
      expect(await response.text()).not.toContain('The ')
    })
  })

  const PATHS = ['/s/PUBLIC', '/s/PUBLIC/sse', ''].map(rest => `/.well-known/oauth-protected-resource${rest}`)
  describe.each([...PATHS, '/.well-known/mcp-servers/PUBLIC/server.json'])('%s', template => {
    const path = () => template.replace('PUBLIC', ids.get('public') ?? '')

    it('is readable by our own pages and MCP Inspector, including its 404, and on loopback by no others', async () => {
      for (const origin of [patchbay.origin, 'http://localhost:6274']) {
        const response = await get(path(), { headers: { origin } })
        expect(response.status).toBe(template.includes('PUBLIC') ? 200 : 404)
        expect(response.headers.get('access-control-allow-origin')).toBe('*')
        expect(response.headers.get('access-control-allow-credentials')).toBeNull()
      }
      const foreign = await get(path(), { headers: { origin: 'https://anywhere.example' } })
      expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null])
    })

    it('answers preflight requests with the headers that MCP clients send', async () => {
      const headers = {
        origin: 'http://127.0.0.1:6274',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'mcp-protocol-version',
      }
      const response = await get(path(), { method: 'OPTIONS', headers })
      expect([response.status, await response.text()]).toEqual([204, ''])
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': '*',
      })
    })

    it('answers HEAD like GET', async () => {
      const [got, head] = [await get(path()), await get(path(), { method: 'HEAD' })]
      expect([head.status, await head.text()]).toEqual([got.status, ''])
      for (const name of ['cache-control', 'access-control-allow-origin', 'content-type']) {
        expect(head.headers.get(name)).toBe(got.headers.get(name))
      }
    })

    it('is refused under a foreign host name (DNS rebinding)', async () => {
      const answer = await patchbay.http.inject({ url: path(), headers: { host: 'rebound.example' } })
      expect(answer.statusCode).toBe(403)
    })
  })
})

it.each([
  ['https://mcp.tools.example.com', 'com.example.tools.mcp'],
  ['https://203.0.113.7:8443', '7.113.0.203'],
  ['https://[2001:db8::1]', '-2001-db8--1-'],
])('a server of an installation at %s is named %s in the registry', async (baseUrl, namespace) => {
  const app = await startTestApp({ env: { PATCHBAY_BASE_URL: baseUrl, PATCHBAY_TRUST_PROXY: '127.0.0.0/8' } })
  const { db } = app.services
  const ada = await app.services.accounts.createUser({ email: 'ada@example.com', password: 'correct horse battery' })
  const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: ada.id } })
  const { id } = await db.server.create({ data: { name: 'One', access: 'public', ownerId: ada.id, organizationId } })
  const response = await fetch(`${app.origin}/.well-known/mcp-servers/${id}/server.json`)
  const entry = RegistryEntry.parse(await response.json())
  expect([entry.name, entry.remotes[0]?.url]).toEqual([`${namespace}/${id}`, `${baseUrl}/s/${id}`])
  await app.close()
})

it('beyond loopback, pages of any origin may read the documents and call the OAuth endpoints, without cookies', async () => {
  const app = await startTestApp({ env: { PATCHBAY_BASE_URL: 'https://patchbay.example.com' } })
  for (const [method, path, status] of [
    ['GET', '/.well-known/mcp-servers', 200],
    ['OPTIONS', '/.well-known/mcp-servers', 204],
    ['GET', '/.well-known/oauth-authorization-server', 200],
    ['GET', '/.well-known/oauth-protected-resource', 404],
    ['OPTIONS', '/oauth/register', 204],
    ['POST', '/oauth/register', 400],
    ['POST', '/oauth/token', 400],
    ['POST', '/oauth/revoke', 400],
  ] as const) {
    for (const origin of ['https://anywhere.example', 'null']) {
      const body = method === 'POST' && { body: path === '/oauth/register' ? '{}' : new URLSearchParams() }
      const type = path === '/oauth/register' ? { 'content-type': 'application/json' } : {}
      const { status: got, headers } = await fetch(`${app.origin}${path}`, {
        method,
        headers: { origin, ...(method === 'POST' && type) },
        ...body,
      })
      expect([path, got, headers.get('access-control-allow-origin')]).toEqual([path, status, '*'])
      expect(headers.get('access-control-expose-headers')).toContain('Retry-After, WWW-Authenticate')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      if (path === '/.well-known/mcp-servers' && method === 'OPTIONS') {
        expect(headers.get('access-control-allow-headers')).toContain('authorization')
      }
    }
  }
  await app.close()
})

it.each(['http://localhost:8080', 'http://patchbay.localhost:8080', 'http://127.0.0.2:8080'])(
  'at %s, which names this machine only, other pages can neither read the documents nor call the OAuth endpoints',
  async baseUrl => {
    const app = await startTestApp({ env: { PATCHBAY_BASE_URL: baseUrl } })
    for (const [method, path] of [
      ['GET', '/.well-known/mcp-servers'],
      ['GET', '/.well-known/oauth-authorization-server'],
      ['POST', '/oauth/register'],
      ['POST', '/oauth/token'],
      ['POST', '/oauth/revoke'],
    ] as const) {
      const call = async (origin: string) => {
        const body = method === 'POST' && { body: path === '/oauth/register' ? '{}' : new URLSearchParams() }
        const response = await fetch(`${app.origin}${path}`, { method, headers: { origin }, ...body })
        return [response.status === 403, response.headers.get('access-control-allow-origin')]
      }
      expect([path, await call('https://anywhere.example')]).toEqual([path, [true, null]])
      expect([path, await call(baseUrl)]).toEqual([path, [false, '*']])
    }
    await app.close()
  },
)
