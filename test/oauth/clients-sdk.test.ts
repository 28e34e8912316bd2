import { IssuerMismatchError, UnauthorizedError as Unauthorized2 } from '@modelcontextprotocol/client'
import { UnauthorizedError as Unauthorized1 } from '@modelcontextprotocol/sdk/client/auth.js'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { knock } from '../mcp/messages.ts'
import { makeServer } from '../support/api-client.ts'
import { runFakeApi } from '../support/world.ts'
import { CALLBACK } from './support/client.ts'
import { answerAt } from './support/person.ts'
import { type Attempt, createMemory, type Memory, SDK_CLIENTS, type SdkClient } from './support/sdk-clients.ts'
import { HOUR_MS, letTimePass, SECOND_MS } from './support/time.ts'
import { runOAuthWorld } from './support/world.ts'

const Applications = z.object({
  items: z.array(z.object({ id: z.string(), client: z.looseObject({ id: z.string() }) })),
})

const Me = z.object({ organizations: z.array(z.object({ id: z.string() })) })
const NewClient = z.object({ clientId: z.string(), clientSecret: z.string() })
const TOOLS = [{ name: 'add_user' }, { name: 'get_user' }]

const world = runOAuthWorld()
const fake = runFakeApi()
let url: string
beforeAll(async () => {
  // Silences a warning that SDK 2 logs when it starts over, as it does in one test.
  vi.spyOn(console, 'warn').mockReturnValue()
  const tools = [
    { name: 'get_user', method: 'GET', url: `${fake.origin}/users/{{id}}` },
    { name: 'add_user', method: 'POST', url: `${fake.origin}/users` },
  ]
  url = (await makeServer(world.owner, tools, { server: { access: 'private' } })).url
})

/** Expects the attempt of a client without consent to be rejected. */
const expectUnauthorized = async (attempt: Attempt): Promise<void> => {
  const error: unknown = await attempt.connect().then(
    () => 'connected',
    (thrown: unknown) => thrown,
  )
  expect(error instanceof Unauthorized1 || error instanceof Unauthorized2, String(error)).toBe(true)
}

/** Completes the flow until the client has tokens. `change` can alter the authorization URL that the SDK built. */
const agree = async (
  client: SdkClient,
  memory: Memory,
  change?: (authorize: URL) => void,
  address = url,
): Promise<void> => {
  const attempt = client.open(address, memory)
  const before = memory.sentTo.length
  await expectUnauthorized(attempt)
  expect(memory.sentTo).toHaveLength(before + 1)
  const authorize = memory.sentTo[before] ?? new URL(url)
  change?.(authorize)
  const callback = await answerAt(authorize, world.owner)
  expect(callback.get('state')).toBe(`state ${before}`)
  await attempt.finish(callback)
}

const expectToWork = async (client: SdkClient, memory: Memory, address = url): Promise<void> => {
  const connection = await client.open(address, memory).connect()
  expect(await connection.listTools()).toMatchObject({ tools: TOOLS })
  const called = await connection.callTool({ name: 'get_user', arguments: { id: '42' } })
  expect(called).toMatchObject({ content: [{ text: expect.stringContaining('/users/42') }] })
  await connection.close()
}

const endApplication = async (memory: Memory): Promise<void> => {
  const { items } = Applications.parse((await world.owner.expectOk('GET', '/me/applications?limit=200')).body)
  const application = items.find(({ client }) => client.id === memory.clientId())
  await world.owner.expectOk('DELETE', `/me/applications/${application?.id}`)
}

describe.each(SDK_CLIENTS)('the official client: $name', client => {
  it('needs only the URL of a private server, and calls its tools once its user has agreed', async () => {
    const memory = createMemory()
    await agree(client, memory)
    const { pathname } = new URL(url)
    expect(memory.asked.slice(1)).toEqual([
      `GET ${pathname.replace('/s/', '/.well-known/oauth-protected-resource/s/')}`,
      'GET /.well-known/oauth-authorization-server',
      'POST /oauth/register',
      'POST /oauth/token',
    ])
    const [authorize] = memory.sentTo
    expect(authorize?.searchParams.get('resource')).toBe(url)
    expect(authorize?.searchParams.get('scope')).toBe('mcp:read mcp:call')
    await expectToWork(client, memory)
    expect(memory.sentTo).toHaveLength(1)
  })

  it('is rejected once its user has revoked access, starts over, and works again after new consent', async () => {
    const memory = createMemory()
    await agree(client, memory)
    const connection = await client.open(url, memory).connect()
    await connection.listTools()
    await endApplication(memory)
    await expect(connection.listTools()).rejects.toThrow()
    await connection.close()
    expect(memory.sentTo).toHaveLength(2)
    expect(memory.tokens()).toEqual({ access: '', refresh: '' })
    const registered = memory.clientId()
    await agree(client, memory)
    await expectToWork(client, memory)
    // The client's registration remains, because only the grant was revoked.
    expect(memory.clientId()).toBe(registered)
  })
})

// In these tests, the client behaves the same over every transport.
const oneOfEachSdk = SDK_CLIENTS.filter(({ name }) => /2026-07-28|^SDK 1 over Streamable HTTP$/.test(name))

describe.each(oneOfEachSdk)('the official client: $name', client => {
  it.each([
    ['under another loopback name', () => url.replace('//localhost', '//127.0.0.1')],
    ['with a slash at the end', () => `${url}/`],
    ['with a number, to load the lists again', () => `${url}?list=2`],
  ])('connects to the address %s, and gets a token for the same server', async (_what, address) => {
    const memory = createMemory()
    await agree(client, memory, undefined, address())
    await expectToWork(client, memory, address())
    expect(await knock(url, memory.tokens().access)).toBe(200)
    expect(memory.sentTo.map(({ origin }) => origin)).toEqual([world.origin])
  })

  it('returns after an hour and gets new tokens, including a new refresh token', async () => {
    const memory = createMemory()
    await agree(client, memory)
    const before = memory.tokens()
    await letTimePass(world, HOUR_MS + SECOND_MS)
    await expectToWork(client, memory)
    expect(memory.tokens().access).not.toBe(before.access)
    expect(memory.tokens().refresh).not.toBe(before.refresh)
    expect(memory.sentTo).toHaveLength(1)
    expect(memory.asked.filter(request => request === 'POST /oauth/token')).toHaveLength(2)
  })

  it('registers again if its registration was deleted, and asks its user again', async () => {
    const memory = createMemory()
    await agree(client, memory)
    const before = memory.clientId()
    await world.services.db.oAuthClient.deleteMany({ where: { clientId: before } })
    await letTimePass(world, HOUR_MS + SECOND_MS)
    await agree(client, memory)
    expect(memory.clientId()).not.toBe(before)
    await expectToWork(client, memory)
  })

  it('connects with an id and a secret that were assigned to it', async () => {
    const { body } = await world.owner.expectOk('GET', '/me')
    const [organization] = Me.parse(body).organizations
    const wish = { name: 'By hand', redirectUris: [CALLBACK], tokenEndpointAuthMethod: 'client_secret_basic' }
    const made = await world.owner.expectOk('POST', `/organizations/${organization?.id}/oauth-clients`, wish)
    const { clientId, clientSecret } = NewClient.parse(made.body)
    const memory = createMemory({ registered: { client_id: clientId, client_secret: clientSecret } })
    await agree(client, memory)
    await letTimePass(world, HOUR_MS + SECOND_MS)
    await expectToWork(client, memory)
    expect(memory.clientId()).toBe(clientId)
    expect(memory.asked).not.toContain('POST /oauth/register')
    expect(memory.sentTo).toHaveLength(1)
  })

  it('learns that its user denied access, and gets no token', async () => {
    const memory = createMemory()
    const attempt = client.open(url, memory)
    await expectUnauthorized(attempt)
    const callback = await answerAt(memory.sentTo[0] ?? new URL(url), world.owner, 'no')
    expect(callback.get('error')).toBe('access_denied')
    await expect(attempt.finish(callback)).rejects.toThrow()
    expect(memory.tokens().access).toBe('')
  })
})

describe('the official clients', () => {
  const steppingUp = SDK_CLIENTS.filter(({ canStepUp }) => canStepUp)
  it.each(steppingUp)('request more scopes if the granted ones are insufficient: $name', async client => {
    const memory = createMemory()
    await agree(client, memory, authorize => authorize.searchParams.set('scope', 'mcp:read'))
    const connection = await client.open(url, memory).connect()
    expect(await connection.listTools()).toMatchObject({ tools: TOOLS })
    await expect(connection.callTool({ name: 'add_user' })).rejects.toThrow()
    await connection.close()
    expect(memory.sentTo[1]?.searchParams.get('scope')?.split(' ').sort()).toEqual(['mcp:call', 'mcp:read'])
    const attempt = client.open(url, memory)
    await attempt.finish(await answerAt(memory.sentTo[1] ?? new URL(url), world.owner))
    const again = await client.open(url, memory).connect()
    expect(await again.callTool({ name: 'add_user' })).toMatchObject({ content: [{ type: 'text' }] })
    await again.close()
  })

  const checksIssuer = SDK_CLIENTS.filter(({ name }) => name.startsWith('SDK 2'))
  it.each(checksIssuer)("do not redeem a code that came with another issuer's name: $name", async client => {
    const memory = createMemory()
    const attempt = client.open(url, memory)
    await expectUnauthorized(attempt)
    const callback = await answerAt(memory.sentTo[0] ?? new URL(url), world.owner)
    expect(callback.get('iss')).toBe(world.origin)
    const mixedUp = new URLSearchParams(callback)
    mixedUp.set('iss', 'https://evil.example')
    await expect(attempt.finish(mixedUp)).rejects.toThrow(IssuerMismatchError)
    expect(memory.asked).not.toContain('POST /oauth/token')
    await attempt.finish(callback)
    await expectToWork(client, memory)
  })

  it('continue when their tokens expire while they are connected', async () => {
    const connected = await Promise.all(
      SDK_CLIENTS.map(async client => {
        const memory = createMemory()
        await agree(client, memory)
        return { memory, before: memory.tokens(), connection: await client.open(url, memory).connect() }
      }),
    )
    for (const { connection } of connected) await connection.listTools()
    await letTimePass(world, HOUR_MS + SECOND_MS)
    // Verified tokens are cached for five seconds. Clearing the cache sooner would also end the open streams.
    for (const { before } of connected) {
      await expect.poll(() => knock(url, before.access), { timeout: 10_000, interval: 500 }).toBe(401)
    }
    for (const { memory, before, connection } of connected) {
      expect(await connection.listTools()).toMatchObject({ tools: TOOLS })
      expect(memory.tokens().refresh).not.toBe(before.refresh)
      expect(memory.sentTo).toHaveLength(1)
      await connection.close()
    }
  })
})
