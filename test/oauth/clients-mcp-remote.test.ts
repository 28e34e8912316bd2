import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { freePort } from '../support/free-port.ts'
import { runFakeApi } from '../support/world.ts'
import { answerAt } from './support/person.ts'
import { forgetTokens, HOUR_MS, letTimePass, SECOND_MS } from './support/time.ts'
import { runOAuthWorld } from './support/world.ts'

const Applications = z.object({ items: z.array(z.object({ id: z.string() })) })
const PROGRAM = join(dirname(createRequire(import.meta.url).resolve('mcp-remote/package.json')), 'dist/proxy.js')

let url: string
const world = runOAuthWorld()
const fake = runFakeApi()
beforeAll(async () => {
  const tools = [{ name: 'get_user', method: 'GET', url: `${fake.origin}/users/{{id}}` }]
  url = (await makeServer(world.owner, tools, { server: { access: 'private' } })).url
})

let home: string
/** The port that the user has configured and that the client registers with. */
let port: string
beforeEach(async () => {
  port = String(await freePort())
  home = await mkdtemp(join(tmpdir(), 'patchbay-mcp-remote-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

/** Starts a connection. `sentTo` resolves to the URL that the user should open. */
const start = (...more: string[]) => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, url, port, '--allow-http', '--transport', 'http-only', ...more],
    // Prevents the program from finding a browser.
    env: { HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: '', BROWSER: '/bin/false' },
    stderr: 'pipe',
  })
  let said = ''
  const sentTo = new Promise<URL>(resolve => {
    transport.stderr?.on('data', chunk => {
      said += chunk
      const [, authorize] = /Please authorize this client by visiting:\s+(\S+)\n/.exec(said) ?? []
      if (authorize !== undefined) resolve(new URL(authorize))
    })
  })
  const client = new Client({ name: 'desktop', version: '1.0.0' })
  onTestFinished(() => client.close())
  return { client, connected: client.connect(transport), sentTo, said: () => said }
}

/** Starts the program for the first time, signs its user in, and calls a tool. */
const connectFirst = async (...more: string[]): Promise<void> => {
  const { client, connected, sentTo, said } = start(...more)
  const authorize = await sentTo
  const callback = await answerAt(authorize, world.owner)
  const redirect = new URL(authorize.searchParams.get('redirect_uri') ?? '')
  redirect.search = callback.toString()
  expect((await fetch(redirect)).status).toBe(200)
  await connected
  expect(await client.listTools(), said()).toMatchObject({ tools: [{ name: 'get_user' }] })
  expect(await client.callTool({ name: 'get_user', arguments: { id: '42' } })).toMatchObject({
    content: [{ text: expect.stringContaining('/users/42') }],
  })
  await client.close()
}

describe('mcp-remote', () => {
  it('prints where to sign in, connects, refreshes the next time, and asks again once its user has revoked access', {
    timeout: 60_000,
  }, async () => {
    await connectFirst()

    await letTimePass(world, HOUR_MS + SECOND_MS)
    await forgetTokens(world)
    const again = start()
    await again.connected
    expect(await again.client.listTools(), again.said()).toMatchObject({ tools: [{ name: 'get_user' }] })
    expect(again.said()).not.toContain('Please authorize')
    await again.client.close()

    const { items } = Applications.parse((await world.owner.expectOk('GET', '/me/applications')).body)
    for (const { id } of items) await world.owner.expectOk('DELETE', `/me/applications/${id}`)
    const ended = start()
    const refused = expect(ended.connected).rejects.toThrow()
    expect((await ended.sentTo).pathname).toBe('/oauth/authorize')
    await ended.client.close()
    await refused
  })

  it('prints where to sign in and connects with protocol version 2026-07-28', { timeout: 60_000 }, async () => {
    await connectFirst('--protocol', 'auto')
  })
})
