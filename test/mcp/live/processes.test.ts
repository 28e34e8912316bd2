import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createLogger } from '../../../src/lib/process/logger.ts'
import { buildServices } from '../../../src/services.ts'
import { callText, connect, toolNames } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { databaseKinds } from '../../support/databases.ts'
import { runSharedCommand } from '../../support/process.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { INITIALIZE } from '../messages.ts'
import { beginSession, nextMessage, openStream, post } from '../wire.ts'

/** The longest wait for a change to show. Other tests measure how soon changes are visible. */
const SHOWS = { timeout: 15_000, interval: 20 }
const PROCESS_MS = 60_000

describe.each(databaseKinds)('another process on the same database ($kind)', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()
  const ada = runUser(patchbay)

  const make = async () => {
    const tool = { name: 'tool', method: 'GET', url: `${fake.origin}/{{key}}` }
    const made = await makeServer(ada, [tool], { bindings: { tool: { key: { source: 'server' } } } })
    await ada.expectOk('PUT', `/servers/${made.serverId}/globals/key`, { value: 'first', secret: true })
    return made
  }
  /** Starts the services as another process would, with their own bus and caches. */
  const startOther = async () => {
    const other = await buildServices(patchbay.settings, createLogger('silent'))
    onTestFinished(other.close)
    const actor = await other.accounts.findActorByUserId(ada.userId)
    if (actor === undefined) throw new Error('the user is gone')
    return { ...other, actor }
  }

  it('changes a global, an instance and a tool, and each change is visible here', { timeout: PROCESS_MS }, async () => {
    const { url, serverId, instanceIds, toolIds } = await make()
    const client = await connect(url)
    /** Calls the tool and returns the URL of the request that reaches the API. */
    const asked = async () => {
      await callText(client, 'tool')
      return fake.seen.at(-1)?.url
    }
    const other = await startOther()
    expect(await asked()).toBe('/first')
    await other.globals.putGlobal(other.actor, serverId, 'key', { value: 'second' })
    await expect.poll(asked, SHOWS).toBe('/second')
    await other.tools.updateTool(other.actor, toolIds.tool ?? '', { url: `${fake.origin}/v2/{{key}}` })
    await expect.poll(asked, SHOWS).toBe('/v2/second')
    await other.instances.updateInstance(other.actor, instanceIds.tool ?? '', { name: 'renamed' })
    await expect.poll(() => toolNames(client), SHOWS).toEqual(['renamed'])
  })

  it('revokes access and then deletes the server, and both are visible here', { timeout: PROCESS_MS }, async () => {
    const { serverId } = await make()
    const app = { port: patchbay.settings.port }
    const knock = async () => (await post(app, serverId, INITIALIZE('2025-06-18'))).status
    expect(await knock()).toBe(200)
    const other = await startOther()
    await other.servers.updateServer(other.actor, serverId, { access: 'private' })
    await expect.poll(knock, SHOWS).toBe(401)
    await other.servers.removeServer(other.actor, serverId)
    await expect.poll(knock, SHOWS).toBe(404)
  })

  it('changes a mounted server, and open streams are notified', { timeout: PROCESS_MS }, async () => {
    const { serverId, url, instanceIds } = await make()
    const app = { port: patchbay.settings.port }
    const session = await beginSession(app, serverId)
    const stream = await openStream(app, { path: `/s/${serverId}`, headers: session })
    onTestFinished(stream.close)
    const other = await startOther()
    await other.instances.updateInstance(other.actor, instanceIds.tool ?? '', { name: 'renamed' })
    expect(await nextMessage(stream)).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect(await toolNames(await connect(url))).toEqual(['renamed'])
  })
})

describe('the command line, beside a running application', () => {
  const patchbay = runPatchbay()
  const env = (): NodeJS.ProcessEnv => ({
    DATABASE_URL: patchbay.databaseUrl,
    PATCHBAY_PORT: String(patchbay.settings.port),
    PATCHBAY_MASTER_KEY: patchbay.settings.masterKeys?.join(','),
  })

  it('creates a demo that can be found, listed and called here', { timeout: PROCESS_MS }, async () => {
    const Demo = z.object({ id: z.uuid(), url: z.url(), tools: z.array(z.string()), answer: z.string() })
    const { stdout } = await runSharedCommand(['demo', '--json'], { env: env() })
    const demo = Demo.parse(JSON.parse(stdout))
    expect(demo.url).toBe(`${patchbay.origin}/s/${demo.id}`)
    const found = await fetch(`${patchbay.origin}/.well-known/mcp-servers`)
    expect(await found.json()).toMatchObject({ servers: [{ base_url: demo.url, access_level: 'public' }] })
    const client = await connect(demo.url)
    expect(await toolNames(client)).toEqual(demo.tools)
    const call = () => callText(client, 'convert_currency', { from: 'EUR', to: 'JPY', amount: 100 })
    expect(await call()).toEqual({ text: demo.answer, isError: false })
  })
})
