import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connect, toolNames } from '../servers/mcp.ts'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const PASSWORD = 'correct horse battery staple'
const FOLDER = mkdtempSync(join(tmpdir(), 'patchbay-presented-'))
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

const SERVER = join(import.meta.dirname, 'servers', 'from-file.process.ts')
const NODE_ARGS = ['--disable-warning=ExperimentalWarning']
const inputSchema = { type: 'object' }

const Skipped = z.object({
  skipped: z.array(z.object({ kind: z.string(), item: z.string(), name: z.string(), reason: z.string() })),
})

describe.each(databasesOfRun)('what clients see of upstreams, on $kind', kind => {
  const patchbay = runPatchbay({ kind, env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  const fake = runFakeApi()
  const operator = runUser(patchbay, 'operator@example.com')

  let made = 0
  const attach = async (serverId: string, body: object, tools: readonly object[]) => {
    const file = join(FOLDER, `${kind.kind}-${made++}.json`)
    writeFileSync(file, JSON.stringify(tools))
    const command = { transport: 'stdio', command: process.execPath, args: [...NODE_ARGS, SERVER, file] }
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, { ...command, ...body })
    const refreshed = await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    return { id, refreshed: Skipped.parse(refreshed.body).skipped }
  }
  const makeDesk = () =>
    makeServer(operator, [{ name: 'far_read', method: 'GET', url: `${fake.origin}/things` }], {
      server: { name: `Desk ${made++}` },
    })
  const skippedOf = async (id: string) =>
    Skipped.parse((await operator.expectOk('GET', `/upstreams/${id}`)).body).skipped

  it('names tools omitted because of a name conflict, with both names, everywhere', async () => {
    const { serverId } = await makeDesk()
    const tools = [
      { name: 'read', inputSchema },
      { name: 'write', inputSchema },
    ]
    const first = await attach(serverId, { name: 'far' }, tools)
    const second = await attach(serverId, { name: 'near', prefix: 'far' }, [{ name: 'write', inputSchema }])
    const taken = {
      kind: 'tool',
      item: 'read',
      name: 'far_read',
      reason:
        'the tool "read" of the MCP server "far" would be named "far_read", which is already the name of the server\'s own tool "far_read"; change the prefix',
    }
    expect(first.refreshed).toEqual([taken])
    expect(await skippedOf(first.id)).toEqual([taken])
    expect(second.refreshed).toMatchObject([
      { item: 'write', name: 'far_write', reason: expect.stringContaining('the tool "write" of the MCP server "far"') },
    ])
    const { body } = await operator.expectOk('GET', `/servers/${serverId}/upstreams`)
    const { items } = z.object({ items: z.array(Skipped) }).parse(body)
    expect(items.map(({ skipped }) => skipped.length)).toEqual([1, 1])
    await operator.expectOk('PATCH', `/upstreams/${second.id}`, { prefix: null })
    expect(await skippedOf(second.id)).toEqual([])
    await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
    expect(await skippedOf(first.id)).toEqual([])
  })

  it('is what the cards of servers count: tools that pass patterns and reviews', async () => {
    const { serverId } = await makeDesk()
    const tools = ['one', 'two', 'three'].map(name => ({ name, inputSchema }))
    const { id } = await attach(serverId, { name: 'counted' }, tools)
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: operator.email, password: PASSWORD })
    const countOn = async () => />([\d,]+) tools?</.exec((await person.get(`/servers?q=${serverId}`)).html)?.[1]
    expect(await countOn()).toBe('4')
    await operator.expectOk('PATCH', `/upstreams/${id}`, { deny: ['two'] })
    expect(await countOn()).toBe('3')
    await operator.expectOk('PATCH', `/servers/${serverId}`, { reviewUpstreamChanges: true })
    expect(await countOn()).toBe('3')
    await operator.expectOk('PATCH', `/upstreams/${id}`, { deny: null })
    expect(await countOn()).toBe('3')
    await operator.expectOk('PATCH', `/upstreams/${id}`, { enabled: false })
    expect(await countOn()).toBe('1')
    const history = await person.get(`/servers/${serverId}/history`)
    expect(history.html).toContain('far_read')
  })

  it('is counted the same on the list of servers, the tab, the Tools tab and by clients, without taken names', async () => {
    const { serverId, url } = await makeDesk()
    const tools = ['read', 'write', 'list'].map(name => ({ name, inputSchema }))
    // `far_read` is the server's own tool, and `near` presents `far_write` again.
    await attach(serverId, { name: 'far' }, tools)
    await attach(serverId, { name: 'near', prefix: 'far' }, tools.slice(1, 2))
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: operator.email, password: PASSWORD })
    const countsOn = async () => {
      const list = (await person.get(`/servers?q=${serverId}`)).html
      const overview = (await person.get(`/servers/${serverId}`)).html
      const tab = (await person.get(`/servers/${serverId}/tools`)).html
      const client = await connect(url, operator.token)
      const counts = [
        />(\d+) tools?</.exec(list)?.[1],
        />Tools <span>(\d+)</.exec(overview)?.[1],
        /<p>(\d+) tools: 1 here, \d+ of attached MCP servers</.exec(tab)?.[1],
        String((await toolNames(client)).length),
      ]
      await client.close()
      return counts
    }
    expect(await countsOn()).toEqual(['3', '3', '3', '3'])
    await operator.expectOk('PATCH', `/servers/${serverId}`, { reviewUpstreamChanges: true })
    expect(await countsOn()).toEqual(['3', '3', '3', '3'])
  })

  it("appears in the history's tool filter", async () => {
    const { serverId } = await makeDesk()
    await attach(serverId, { name: 'heard' }, [{ name: 'read', inputSchema }])
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: operator.email, password: PASSWORD })
    expect((await person.get(`/servers/${serverId}/history`)).html).toContain('heard_read')
  })
})
