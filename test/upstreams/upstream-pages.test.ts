import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'
import { runPatchbay } from '../support/world.ts'

const PASSWORD = 'correct horse battery staple'
const FOLDER = mkdtempSync(join(tmpdir(), 'patchbay-upstream-pages-'))
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** A stdio server that reads its tools from a file. */
const FROM_FILE = join(import.meta.dirname, 'servers', 'from-file.process.ts')
const HOSTILE = '<script>alert(1)</script>'
const REMOTE = { transport: 'http', url: 'https://mcp.example.com/mcp' }
const COMMAND = { transport: 'stdio', command: 'npx', args: ['-y', 'a-server'] }
/** Checkboxes that are selected in a new form. */
const TICKED = { tools: 'on', resources: 'on', prompts: 'on', enabled: 'on' }

describe('the pages of attached MCP servers', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  let operator: ApiClient & { email: string; userId: string }
  let builder: ApiClient & { email: string; userId: string }
  let viewer: ApiClient & { email: string; userId: string }
  let organizationId: string
  beforeAll(async () => {
    const { db } = patchbay.services
    operator = await signUp(patchbay.origin, 'operator@example.com')
    const membership = await db.membership.findFirstOrThrow({ where: { userId: operator.userId } })
    organizationId = membership.organizationId
    const join = async (role: 'builder' | 'viewer') => {
      const member = await signUp(patchbay.origin)
      await db.membership.create({ data: { organizationId, userId: member.userId, role } })
      return member
    }
    builder = await join('builder')
    viewer = await join('viewer')
  })
  const signIn = async ({ email }: { email: string }) => {
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email, password: PASSWORD })
    return person
  }
  const makeServer = async () =>
    (await operator.create('/servers', { name: 'Desk', organizationId, access: 'organization' })).id
  const attach = async (upstream: object) => {
    const serverId = await makeServer()
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, upstream)
    return { serverId, id, path: `/servers/${serverId}/sources/upstreams/${id}` }
  }
  const readUpstream = async (id: string) => (await operator.expectOk('GET', `/upstreams/${id}`)).body

  it('attach one from a form with one value per line, and show it among the sources', async () => {
    const serverId = await makeServer()
    const sources = `/servers/${serverId}/sources`
    const person = await signIn(builder)
    expect((await person.get(sources)).html).toContain('No source yet')
    expect((await person.get(`${sources}/upstreams/new`)).html).not.toContain('value="stdio"')
    const made = await person.submit(`${sources}/upstreams/new`, {
      ...REMOTE,
      tools: 'on',
      prompts: 'on',
      name: 'issues',
      description: HOSTILE,
      headers: 'X-Team: blue\r\n\r\n Authorization:Bearer {{token}} \r\n',
      allow: 'read_*\r\nlist_*',
      timeoutMs: '2500',
    })
    expect(made.status).toBe(303)
    const id = /upstreams\/([0-9a-f-]{36})\?/.exec(made.location ?? '')?.[1] ?? ''
    expect(await readUpstream(id)).toMatchObject({
      name: 'issues',
      headers: { 'X-Team': 'blue', Authorization: 'Bearer {{token}}' },
      features: { tools: true, resources: false, prompts: true },
      allow: ['read_*', 'list_*'],
      deny: null,
      timeoutMs: 2_500,
      enabled: true,
    })
    const page = await person.get(made.location ?? '')
    expect(page.html).toContain('MCP server attached')
    expect(page.html).toContain(`/servers/${serverId}/globals?key=token#key`)
    const list = await person.get(sources)
    expect(list.html).toContain('missing globals: token')
    expect(list.html).toContain('&lt;script&gt;alert(1)')
    expect(page.html + list.html).not.toContain('<script>alert')
    expect((await person.get(`/servers/${serverId}/globals`)).html).toContain('used by 1 MCP server')
  })

  it('connect at once, and say what it offers', async () => {
    const serverId = await makeServer()
    const sources = `/servers/${serverId}/sources`
    const file = join(FOLDER, 'attached.json')
    writeFileSync(file, JSON.stringify(['read', 'list'].map(name => ({ name, inputSchema: { type: 'object' } }))))
    const person = await signIn(operator)
    await person.get(`${sources}/upstreams/new`)
    const made = await person.submit(`${sources}/upstreams/new`, {
      ...TICKED,
      name: 'files',
      transport: 'stdio',
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', FROM_FILE, file].join('\r\n'),
    })
    expect(made.status).toBe(303)
    const { html } = await person.get(made.location ?? '')
    expect(html).toContain('Connected: 2 tools')
    expect(html).toMatch(/<p>2 tools[^<]*<\/p>/)
  })

  it('attach nothing that cannot be reached, and keep what was typed with the error and its fix', async () => {
    const serverId = await makeServer()
    const path = `/servers/${serverId}/sources/upstreams/new`
    const person = await signIn(operator)
    await person.get(path)
    const there = { ...TICKED, name: 'local', transport: 'stdio', description: HOSTILE, env: 'LOG=off' }
    const missing = await person.submit(path, { ...there, command: '/nowhere/to-be-found', args: 'one\r\ntwo' })
    expect(missing.status).toBe(400)
    expect(missing.html).toContain('The command /nowhere/to-be-found was not found on this machine. Install it')
    expect(missing.html).toContain('value="/nowhere/to-be-found"')
    expect(missing.html).toMatch(/one\r?\ntwo<\/textarea>/)
    expect(missing.html).toContain('LOG=off</textarea>')
    expect(missing.html).not.toContain('<script>alert')
    const ended = await person.submit(path, {
      ...there,
      command: process.execPath,
      args: '-e\r\nconsole.error(2 + 3);process.exit(4)',
    })
    expect(ended.html).toContain('The process exited with code 4.')
    expect(ended.html).toMatch(/id="log"[\s\S]*<\/span> 5\n/)
    const { db } = patchbay.services
    expect(await db.upstream.count({ where: { serverId } })).toBe(0)
    const kept = await person.submit(path, { ...there, command: '/nowhere/to-be-found', anyway: 'on' })
    expect(kept.status).toBe(303)
    expect(await db.upstream.findMany({ where: { serverId } })).toMatchObject([{ name: 'local', isEnabled: true }])
  })

  it('say what else went wrong than that it is down, and where headers are', async () => {
    const path = `/servers/${await makeServer()}/sources/upstreams/new`
    const person = await signIn(operator)
    const { html } = await person.get(path)
    expect(html).toContain('add them as headers.')
    expect(html).not.toContain('headers above')
    const file = join(FOLDER, 'too-deep.json')
    const deep = JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`)
    writeFileSync(file, JSON.stringify([{ name: 'deep', inputSchema: deep }]))
    const noticeFor = async (command: string, args: readonly string[]) => {
      const typed = { ...TICKED, name: 'far', transport: 'stdio', command, args: args.join('\n') }
      const refused = await person.submit(path, typed)
      expect(refused.status).toBe(400)
      return /([^<>]*), so nothing was attached\. ([^<]*)/.exec(refused.html)?.slice(1)
    }
    expect(await noticeFor(process.execPath, ['--disable-warning=ExperimentalWarning', FROM_FILE, file])).toEqual([
      'It was reached, but its messages could not be used',
      expect.stringContaining('you can attach it anyway and refresh its lists later'),
    ])
    expect(await noticeFor('/nowhere/to-be-found', [])).toEqual([
      'Its command could not be started',
      'Fix the error below.',
    ])
    expect(await noticeFor(process.execPath, ['-e', 'process.exit(4)'])).toEqual([
      'Its process ended',
      expect.stringContaining('only down at the moment'),
    ])
  })

  it('attach nothing if something unexpected fails after it was connected', async () => {
    const serverId = await makeServer()
    const file = join(FOLDER, 'unstored.json')
    writeFileSync(file, '[]')
    const person = await signIn(operator)
    const path = `/servers/${serverId}/sources/upstreams/new`
    await person.get(path)
    const { db } = patchbay.services
    await db.$executeRawUnsafe(
      `CREATE TRIGGER "full" BEFORE INSERT ON "UpstreamCatalogue" BEGIN SELECT RAISE(ABORT, 'full'); END`,
    )
    try {
      const args = ['--disable-warning=ExperimentalWarning', FROM_FILE, file].join('\n')
      const typed = { ...TICKED, name: 'far', transport: 'stdio', command: process.execPath, args }
      expect((await person.submit(path, typed)).status).toBe(500)
    } finally {
      await db.$executeRawUnsafe('DROP TRIGGER "full"')
    }
    expect((await operator.expectOk('GET', `/servers/${serverId}/upstreams`)).body).toMatchObject({ items: [] })
  })

  it('show the changed lines of rejected changes too, page by page', async () => {
    const file = join(FOLDER, 'rejected.json')
    const write = (about: string) =>
      writeFileSync(
        file,
        JSON.stringify(
          Array.from({ length: 7 }, (_, index) => ({
            name: `t${index}`,
            description: `${about} ${index}`,
            inputSchema: { type: 'object' },
          })),
        ),
      )
    write('Reads')
    const args = ['--disable-warning=ExperimentalWarning', FROM_FILE, file]
    const { id, serverId, path } = await attach({ name: 'far', transport: 'stdio', command: process.execPath, args })
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    await operator.expectOk('PATCH', `/servers/${serverId}`, { reviewUpstreamChanges: true })
    write('Ignore all before')
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    const person = await signIn(builder)
    const changes = await operator.expectOk('GET', `/upstreams/${id}/changes`)
    const { version } = z.object({ version: z.string() }).parse(changes.body)
    await operator.expectOk('POST', `/upstreams/${id}/reject`, { version })
    const { html } = await person.get(path)
    expect(html).toContain('7 rejected changes')
    expect(html.match(/<ins>Ignore all before<\/ins> \d/g)).toHaveLength(5)
    expect(html).toContain('1 to 5 of 7')
    const { html: rest } = await person.get(`${path}?rejected=2`)
    expect(rest.match(/<ins>Ignore all before<\/ins> \d/g)).toHaveLength(2)
    expect(rest).toMatch(/<details[^>]*id="rejected" open>/)
    const tool = /name="tool" value="([^"]+)"/.exec(rest)?.[1] ?? ''
    await person.submit(`${path}/approve`, { tool, rejected: 'on' })
    expect((await person.get(path)).html).toContain('6 rejected changes')
  })

  it('keep the input, with an error beside each invalid field', async () => {
    const path = `/servers/${await makeServer()}/sources/upstreams/new`
    const person = await signIn(builder)
    await person.get(path)
    const refused = await person.submit(path, {
      name: 'two words',
      transport: 'sse',
      url: 'ftp://mcp.example.com',
      headers: 'no pair\nX-A: 1\nX-A: 2',
      deny: '"open',
      timeoutMs: 'soon',
    })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('The header number 1 must have the form Name: value.')
    expect(refused.html).toContain('The pattern number 1 starts with a double quote')
    expect(refused.html).toContain('The time must be a whole number of milliseconds, at least 1, such as 10,000.')
    expect(refused.html).toContain('The name must be 1 to 64 characters')
    expect(refused.html).toContain('value="two words"')
    expect(refused.html).toContain('no pair\nX-A: 1\nX-A: 2</textarea>')
    expect(refused.html).toMatch(/value="sse" checked/)
    const last = await person.submit(path, { ...REMOTE, name: 'one', url: 'mcp.example.com', headers: 'Host: x' })
    expect(last.html).toContain('The URL is invalid: the URL is not absolute')
    expect(last.html).toContain('The header Host is invalid')
  })

  it('change one, and show the second of two concurrent editors what the first has saved', async () => {
    const { id, path } = await attach({ name: 'docs', ...REMOTE, prefix: 'd', headers: { 'X-A': '1' } })
    const [first, second] = [await signIn(builder), await signIn(operator)]
    const version = inputsOf((await first.get(path)).html).get('version') ?? ''
    await second.get(path)
    const saved = await first.submit(path, { ...REMOTE, ...TICKED, name: 'manuals', headers: '', version })
    expect(saved).toMatchObject({ status: 303, location: `${path}?done=saved` })
    expect(await readUpstream(id)).toMatchObject({ name: 'manuals', headers: {}, prefix: null, timeoutMs: 10_000 })
    const told = await second.submit(path, { ...REMOTE, ...TICKED, name: 'guides', version })
    expect(told.status).toBe(409)
    expect(told.html).toContain('Somebody else has changed the MCP server')
    expect(told.html).toContain('Someone else saved changes while you were editing')
    expect(told.html).toMatch(/<ins>guides<\/ins>[\s\S]*<del>manuals<\/del>/)
    expect(told.html).toContain('value="guides"')
    const seen = inputsOf(told.html).get('version') ?? ''
    expect((await second.submit(path, { ...REMOTE, ...TICKED, name: 'guides', version: seen })).status).toBe(303)
    expect(await readUpstream(id)).toMatchObject({ name: 'guides' })
  })

  it('keep every argument and variable unchanged when the form is saved again', async () => {
    const args = ['', ' ', '"quoted"', 'two\nlines', '{"a": 1}', '-y', '\\{{x}}', '{{place}}']
    const env = { EMPTY: '', SPACED: ' x ', LINES: 'a\r\nb', PAIR: 'a=b', QUOTE: '"' }
    const { id, path } = await attach({ name: 'local', transport: 'stdio', command: 'npx', args, env, cwd: '/tmp' })
    const person = await signIn(operator)
    const { html } = await person.get(path)
    const areaOf = (name: string) => {
      const text = new RegExp(`<textarea [^>]*name="${name}"[^>]*>\n([^<]*)</textarea>`).exec(html)?.[1] ?? ''
      return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&')
    }
    const fields = Object.fromEntries(['args', 'env'].map(name => [name, areaOf(name).replaceAll('\n', '\r\n')]))
    const version = inputsOf(html).get('version') ?? ''
    const rest = { name: 'local', transport: 'stdio', command: 'npx', cwd: '/tmp', version }
    expect((await person.submit(path, { ...TICKED, ...rest, ...fields })).status).toBe(303)
    expect(await readUpstream(id)).toMatchObject({ args, env, cwd: '/tmp', enabled: true })
  })

  it('let only the operator enter a command; its other settings can be changed', async () => {
    const { id, path, serverId } = await attach({ name: 'local', ...COMMAND })
    const person = await signIn(builder)
    const { html } = await person.get(path)
    expect(html).toContain('Only the operator of this installation')
    expect(html).not.toContain('name="command"')
    const version = inputsOf(html).get('version') ?? ''
    const typed = { ...TICKED, name: 'local', description: 'Ours', version, transport: 'stdio', command: 'sh' }
    expect((await person.submit(path, typed)).status).toBe(303)
    expect(await readUpstream(id)).toMatchObject({ description: 'Ours', ...COMMAND })
    const forged = await person.submit(`/servers/${serverId}/sources/upstreams/new`, {
      name: 'mine',
      transport: 'stdio',
      command: 'sh',
    })
    expect(forged.status).toBe(403)
    expect(await patchbay.services.db.upstream.count({ where: { serverId } })).toBe(1)
  })

  it('show a viewer the settings without a form', async () => {
    const { path } = await attach({ name: 'seen', ...REMOTE, headers: { Authorization: 'Bearer {{token}}' } })
    const person = await signIn(viewer)
    const { html, status } = await person.get(path)
    expect(status).toBe(200)
    expect(html).toContain('Bearer {{token}}')
    expect(html).not.toContain(`action="${path}"`)
    expect((await person.submit(path, { ...REMOTE, name: 'mine' })).status).toBe(403)
  })

  it('remove one after its name is entered', async () => {
    const { id, path, serverId } = await attach({ name: 'old', ...REMOTE })
    const person = await signIn(builder)
    await person.get(`${path}/remove`)
    expect((await person.submit(`${path}/remove`, { sure: 'young' })).html).toContain('The name is not old.')
    const gone = await person.submit(`${path}/remove`, { sure: 'old' })
    expect(gone.location).toBe(`/servers/${serverId}/sources?done=detached`)
    expect((await person.get(gone.location ?? '')).html).toContain('MCP server removed from this server')
    expect((await operator.send('GET', `/upstreams/${id}`)).status).toBe(404)
    expect((await person.get(path)).status).toBe(404)
  })

  it("count its visible tools among the server's", async () => {
    const file = join(FOLDER, 'tools.json')
    writeFileSync(
      file,
      JSON.stringify(['read', 'list', 'drop'].map(name => ({ name, inputSchema: { type: 'object' } }))),
    )
    const args = ['--disable-warning=ExperimentalWarning', FROM_FILE, file]
    const command = { transport: 'stdio', command: process.execPath, args }
    const { id, serverId } = await attach({ name: 'files', ...command, deny: ['drop'] })
    const person = await signIn(builder)
    const tools = `/servers/${serverId}/tools`
    expect((await person.get(tools)).html).toContain('>Tools <span>0</span></a>')
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    const { html } = await person.get(tools)
    expect(html).toContain('>Tools <span>2</span></a>')
    expect(html).toContain('Tools come from attached MCP servers')
    expect(html).not.toContain('No tools yet')
    expect((await person.get(`/servers/${serverId}/sources`)).html).toMatch(/<\/code>, 2 tools</)
    const { html: bindings } = await person.get(`/servers/${serverId}/bindings`)
    expect(bindings).toContain('get all parameters from the model')
    expect(bindings).not.toContain('No bindings yet')
  })

  it('explain why a connected one could not be listed', async () => {
    const file = join(FOLDER, 'deep.json')
    writeFileSync(
      file,
      JSON.stringify([{ name: 'deep', inputSchema: JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) }]),
    )
    const args = ['--disable-warning=ExperimentalWarning', FROM_FILE, file]
    const { id, path } = await attach({ name: 'deep', transport: 'stdio', command: process.execPath, args })
    const person = await signIn(builder)
    await person.get(path)
    expect((await person.submit(`${path}/refresh`, {})).status).toBe(303)
    expect((await operator.send('POST', `/upstreams/${id}/refresh`)).status).toBe(503)
    const { html } = await person.get(path)
    expect(html).toContain('failed since')
    expect(html).toContain('JSON that is nested more than 256 levels deep')
  })

  it('explain what tabs of a passthrough server cannot show, and offer nothing that it refuses', async () => {
    const server = { name: 'Way through', organizationId, presentation: 'passthrough' }
    const { id: serverId } = await operator.create('/servers', server)
    const person = await signIn(operator)
    const path = `/servers/${serverId}`
    const sources = async () => (await person.get(`${path}/sources`)).html
    expect(await sources()).toContain('/sources/upstreams/new"')
    const { html: bare } = await person.get(path)
    expect(bare).toContain('Once you connect a remote MCP server, requests are passed through to it')
    expect(bare).not.toContain('Create a tool')
    const { id } = await operator.create(`${path}/upstreams`, { name: 'far', ...REMOTE })
    const { html: overview } = await person.get(path)
    expect(overview).toContain(`href="${path}/sources/upstreams/${id}"`)
    expect(overview).not.toContain('Nothing is plugged in yet')
    expect(overview).not.toContain('never connected')
    const { html: page } = await person.get(`${path}/sources/upstreams/${id}`)
    expect(page).toContain('Clients fetch its lists themselves')
    expect(page).not.toContain('/refresh"')
    for (const link of ['/sources/upstreams/new"', '/sources/new"']) expect(await sources()).not.toContain(link)
    const { html: list } = await person.get(`/servers?q=${serverId}`)
    expect(list).toContain('not called today')
    expect(list).not.toContain('no tools<')
    const { html: tools } = await person.get(`${path}/tools`)
    expect(tools).toContain('Tools come from the attached MCP server')
    expect(tools).toMatch(/>Tools\s*<\/a>/)
    expect(tools).not.toContain('/tools/new"')
    const { html: inspector } = await person.get(`${path}/inspector`)
    expect(inspector).toContain('passes every request unchanged')
    expect(inspector).not.toContain('has no tools yet')
    expect((await person.submit(`${path}/inspector?tool=any`, {})).status).toBe(409)
  })

  it('warn if a secret is sent unencrypted beyond this machine', async () => {
    const at = (url: string, more: object = {}) => ({ name: 'far', transport: 'http', url, ...more })
    const headers = { Authorization: 'Bearer {{token}}' }
    const warned = await attach(at('http://mcp.example.com/mcp', { headers }))
    const person = await signIn(builder)
    expect((await person.get(warned.path)).html).toContain('Credentials for mcp.example.com are sent over plain http')
    const readWith = async (upstream: object) => {
      const { id, serverId } = await attach(upstream)
      await operator.expectOk('PUT', `/servers/${serverId}/globals/team`, { value: 'a secret', secret: true })
      return readUpstream(id)
    }
    const auth = { type: 'oauth' }
    for (const upstream of [
      at('http://10.1.2.3:8080/mcp', { auth }),
      at('http://{{host}}/mcp', { headers }),
      at('https://mcp.example.com/mcp', { urls: ['http://mcp.example.com/mcp'], headers }),
      at('http://mcp.example.com/mcp', { headers: { 'X-Team': '{{team}}' } }),
    ]) {
      expect(await readWith(upstream)).toMatchObject({ warnings: [expect.stringContaining('plain http')] })
    }
    for (const upstream of [
      at('https://mcp.example.com/mcp', { headers }),
      at('http://localhost:8080/mcp', { auth }),
      at('http://[::1]:8080/mcp', { headers }),
      at('http://mcp.example.com/mcp', { headers: { 'X-Team': '{{name}}' } }),
    ]) {
      expect(await readWith(upstream)).toMatchObject({ warnings: [] })
    }
    expect((await operator.send('PATCH', `/upstreams/${warned.id}`, await readUpstream(warned.id))).status).toBe(200)
  })

  it('return 404 for an upstream of another server', async () => {
    const { id } = await attach({ name: 'here', ...REMOTE })
    const person = await signIn(builder)
    expect((await person.get(`/servers/${await makeServer()}/sources/upstreams/${id}`)).status).toBe(404)
  })
})
