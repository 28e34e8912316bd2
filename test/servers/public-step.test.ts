import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const FOLDER = mkdtempSync(join(tmpdir(), 'patchbay-public-step-'))
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))
const FROM_FILE = join(import.meta.dirname, '../upstreams/servers/from-file.process.ts')
const inputSchema = { type: 'object' }

describe('making a server public on its settings page', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  const api = runFakeApi()
  let owner: ApiClient & { email: string }
  beforeAll(async () => {
    owner = await signUp(patchbay.origin, 'operator@example.com')
  })

  const open = async (tools: readonly Record<string, unknown>[]) => {
    const { serverId, instanceIds } = await makeServer(owner, tools, { server: { access: 'private' } })
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: owner.email, password: 'correct horse battery staple' })
    const path = `/servers/${serverId}/settings`
    await person.get(path)
    const read = async () => (await owner.send('GET', `/servers/${serverId}`)).body
    return { serverId, instanceIds, path, person, read }
  }

  it('refuses to change the presentation or the review in the same step, because it names what clients reach now', async () => {
    const { serverId, path, person, read } = await open([])
    await owner.expectOk('PATCH', `/servers/${serverId}`, { reviewUpstreamChanges: true })
    await person.get(path)
    for (const more of [{ presentation: 'passthrough' }, { switches: 'reviewUpstreamChanges' }]) {
      const refused = await person.submit(path, { access: 'public', ...more })
      expect(refused.status).toBe(400)
      expect(refused.html).toContain(
        'can only become public once the presentation and the review of MCP servers are saved',
      )
    }
    expect(await read()).toMatchObject({ access: 'private', reviewUpstreamChanges: true })
  })

  it('names the secrets and the destructive tools first, and saves all settings once that is confirmed', async () => {
    const { serverId, instanceIds, path, person, read } = await open([
      { name: 'list_things', method: 'GET', url: `${api.origin}/things/{{key}}` },
      { name: 'drop_thing', method: 'DELETE', url: `${api.origin}/things/{{id}}` },
      { name: 'wipe_things', method: 'POST', url: `${api.origin}/wipe`, annotations: { destructiveHint: true } },
      { name: 'hide_thing', method: 'DELETE', url: `${api.origin}/hide`, annotations: { destructiveHint: false } },
      { name: 'add_thing', method: 'POST', url: `${api.origin}/things` },
      { name: 'off_thing', method: 'DELETE', url: `${api.origin}/off` },
    ])
    await owner.expectOk('PATCH', `/instances/${instanceIds.off_thing}`, { enabled: false })
    await owner.expectOk('PUT', `/servers/${serverId}/globals/used_key`, { value: 'x', secret: true })
    await owner.expectOk('PUT', `/servers/${serverId}/globals/spare_key`, { value: 'x', secret: true })
    await owner.expectOk('PUT', `/servers/${serverId}/globals/north_depot`, { value: 'north' })
    await owner.expectOk('PATCH', `/instances/${instanceIds.list_things}`, {
      bindings: { key: { source: 'server', value: 'used_key' } },
    })
    const typed = { name: 'Open desk', description: 'Two\r\nlines', access: 'public', maxResponseTokens: '1200' }
    const asked = await person.submit(path, typed)
    expect(asked.status).toBe(200)
    expect(asked.html).toMatch(/<bdi>used_key<\/bdi><\/code>\s*<span class="faint"><bdi>in list_things</)
    for (const name of ['drop_thing', 'wipe_things']) expect(asked.html).toContain(`<code><bdi>${name}</bdi></code>`)
    for (const other of ['spare_key', 'north_depot', 'hide_thing', 'add_thing', 'off_thing']) {
      expect(asked.html).not.toContain(other)
    }
    expect(await read()).toMatchObject({ name: 'Server', access: 'private' })

    const fields = Object.fromEntries(inputsOf(asked.html))
    const back = await person.submit(path, { ...fields, step: 'back' })
    expect(back.status).toBe(200)
    expect(back.html).toContain('value="Open desk"')
    expect(back.html).toMatch(/Two\r?\nlines<\/textarea>/)
    expect(back.html).toMatch(/value="public" checked/)
    expect(await read()).toMatchObject({ name: 'Server', access: 'private' })

    const done = await person.submit(path, fields)
    expect(done).toMatchObject({ status: 303, location: `${path}?done=saved` })
    expect(await read()).toMatchObject({
      name: 'Open desk',
      description: 'Two\nlines',
      access: 'public',
      maxResponseTokens: 1_200,
    })
    // Nothing else opens when a public server is saved again.
    expect((await person.submit(path, { name: 'Open desk too', access: 'public' })).status).toBe(303)
  })

  it('asks again if something was added since, and for each forged answer', async () => {
    const { serverId, path, person, read } = await open([])
    const asked = await person.submit(path, { access: 'public' })
    expect(asked.html).toContain('None that say so.')
    const sure = inputsOf(asked.html).get('sure') ?? ''
    const file = join(FOLDER, 'tools.json')
    const tools = [
      { name: 'erase', inputSchema, annotations: { destructiveHint: true } },
      { name: 'look', inputSchema, annotations: { readOnlyHint: true } },
      { name: 'unclear', inputSchema },
    ]
    writeFileSync(file, JSON.stringify(tools))
    await owner.expectOk('PUT', `/servers/${serverId}/globals/yard_token`, { value: 'x', secret: true })
    const { id } = await owner.create(`/servers/${serverId}/upstreams`, {
      name: 'yard',
      transport: 'stdio',
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', FROM_FILE, file],
      env: { TOKEN: '{{yard_token}}' },
    })
    await owner.expectOk('POST', `/upstreams/${id}/refresh`)
    for (const forged of [sure, 'yes']) {
      const again = await person.submit(path, { access: 'public', sure: forged })
      expect(again.status).toBe(200)
      expect(again.html).toContain('have changed since you were asked')
      expect(again.html).toMatch(/<bdi>yard_token<\/bdi><\/code>\s*<span class="faint"><bdi>in yard</)
      expect(again.html).toContain('<code><bdi>yard_erase</bdi></code>')
      expect(again.html).not.toContain('yard_look')
      expect(again.html).toMatch(/This tool of an attached MCP server may change data[\s\S]*<code><bdi>yard_unclear</)
      expect(await read()).toMatchObject({ access: 'private' })
    }
    const { html } = await person.submit(path, { access: 'public' })
    // As many as before, but another.
    writeFileSync(file, JSON.stringify([...tools.slice(0, 2), { name: 'murky', inputSchema }]))
    await owner.expectOk('POST', `/upstreams/${id}/refresh`)
    const renamed = await person.submit(path, Object.fromEntries(inputsOf(html)))
    expect(renamed.status).toBe(200)
    expect(renamed.html).toContain('<code><bdi>yard_murky</bdi></code>')
    const last = await person.submit(path, { access: 'public' })
    expect((await person.submit(path, Object.fromEntries(inputsOf(last.html)))).status).toBe(303)
    expect(await read()).toMatchObject({ access: 'public' })
  })

  it('names credentials that are written out in MCP servers and tools, and collapses long lists', async () => {
    const many = Array.from({ length: 14 }, (_, index) => ({
      name: `drop_${index}`,
      method: 'DELETE',
      url: `${api.origin}/${index}`,
    }))
    const literal = { name: 'look', method: 'GET', url: api.origin }
    const header = { name: 'X-Api-Key', value: 'yard-9' }
    const { serverId, path, person } = await open([{ ...literal, headers: [header] }, ...many])
    const quiet = await person.submit(path, { access: 'public' })
    const sure = inputsOf(quiet.html).get('sure') ?? ''
    expect(quiet.html).toMatch(/<summary>[\s\S]*2 more<\/summary>[\s\S]*drop_/)
    expect(quiet.html).toMatch(/<bdi>header X-Api-Key<\/bdi><\/code>\s*<span class="faint"><bdi>written out in look</)
    await owner.create(`/servers/${serverId}/upstreams`, {
      name: 'issues',
      transport: 'http',
      url: 'https://mcp.example.com/mcp',
      headers: { Authorization: 'Bearer plainly-here', 'X-Team': 'blue' },
    })
    const again = await person.submit(path, { access: 'public', sure })
    expect(again.html).toContain('have changed since you were asked')
    expect(again.html).toMatch(
      /<bdi>header Authorization<\/bdi><\/code>\s*<span class="faint"><bdi>written out in issues</,
    )
    expect(again.html).not.toContain('X-Team')
    expect(again.html).not.toContain('plainly-here')
  })

  it('is refused to builders who do not own the server, before they are asked', async () => {
    const { serverId, path, read } = await open([])
    const { organizationId } = await patchbay.services.db.server.findUniqueOrThrow({ where: { id: serverId } })
    await owner.expectOk('PATCH', `/servers/${serverId}`, { access: 'organization' })
    const builder = await patchbay.member(organizationId, 'builder')
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: builder.email, password: 'correct horse battery staple' })
    expect((await person.get(path)).html).not.toContain('name="access"')
    expect((await person.submit(path, { access: 'public' })).status).toBe(403)
    expect((await person.submit(path, { access: 'private' })).status).toBe(403)
    expect((await person.submit(path, { name: 'Ours' })).status).toBe(303)
    expect(await read()).toMatchObject({ name: 'Ours', access: 'organization' })
  })
})
