import { existsSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { ApiClient } from '../support/api-client.ts'
import { runSharedCommand, startPatchbay, temporaryDirectory } from '../support/process.ts'
import { during, runUser } from '../support/world.ts'
import { makeFiles, makeHome } from './config-homes.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

type Place = { home: string; project: string }
const run = (
  args: readonly string[],
  { home, project }: Place,
  env: NodeJS.ProcessEnv = {},
): ReturnType<typeof runSharedCommand> =>
  runSharedCommand(['import', ...args], {
    directory: project,
    env: { HOME: home, XDG_CONFIG_HOME: undefined, CODEX_HOME: undefined, ...env },
  })

const Found = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      tool: z.string(),
      servers: z.array(
        z.object({
          name: z.string(),
          transport: z.string(),
          place: z.string(),
          enabled: z.boolean(),
          notes: z.array(z.string()),
        }),
      ),
      unusable: z.array(z.object({ name: z.string(), why: z.string() })),
      notes: z.array(z.string()),
    }),
  ),
  faults: z.array(z.object({ path: z.string(), why: z.string() })),
})
const Outcome = Found.extend({
  server: z.object({ id: z.string(), name: z.string(), url: z.string() }),
  imported: z.array(z.object({ name: z.string(), enabled: z.boolean(), notes: z.array(z.string()) })),
  skipped: z.array(z.object({ name: z.string(), why: z.string() })),
  missingGlobals: z.array(z.string()),
})
const Upstreams = z.object({ items: z.array(z.looseObject({ id: z.string(), name: z.string() })) })
const Globals = z.object({ items: z.array(z.looseObject({ key: z.string(), secret: z.boolean() })) })

const foundBy = async (args: readonly string[], place: Place) =>
  Found.parse(JSON.parse((await run([...args, '--json'], place)).stdout))

const upstreamsOf = async (api: ApiClient, serverId: string) => {
  const { items } = Upstreams.parse((await api.expectOk('GET', `/servers/${serverId}/upstreams?limit=200`)).body)
  return Object.fromEntries(items.map(item => [item.name, item]))
}
const globalsOf = async (api: ApiClient, serverId: string) =>
  Globals.parse((await api.expectOk('GET', `/servers/${serverId}/globals?limit=200`)).body).items

/** Each list contains the one before it ten times. */
const BOMB = Array.from({ length: 9 }, (_, at) => {
  const items = at === 0 ? '1' : `*l${at - 1}`
  return `l${at}: &l${at} [${Array.from({ length: 10 }, () => items).join(', ')}]`
}).join('\n')

describe('finding MCP servers', () => {
  it('finds those of eleven tools and of the project, shows each without secrets, and imports none', async () => {
    const place = makeHome()
    const shown = await run([], place)
    expect(shown).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('--yes') })
    expect(shown.stdout).not.toContain('fixture-secret')
    const { files, faults } = await foundBy([], place)
    expect(faults).toEqual([])
    const rows = files.flatMap(({ tool, servers }) =>
      servers.map(({ name, transport, place: where, enabled }) => [tool, name, transport, where, enabled]),
    )
    const { home, project } = place
    expect(rows).toEqual([
      ['claude-desktop', 'notes', 'stdio', 'node /opt/notes/server.js --folder /srv/notes', true],
      ['claude-code', 'tracker', 'http', '{{TRACKER_URL}}/mcp', true],
      ['claude-code', "project's own", 'stdio', 'make mcp', true],
      ['cursor', 'wiki', 'http', 'https://wiki.example.com/mcp?apiKey={{wiki_apiKey}}&space=team', true],
      ['cursor', 'shell tools', 'stdio', `uvx shell-tools --root ${home}/work --api-key={{shell-tools_api-key}}`, true],
      ['vscode', 'maps', 'http', 'https://maps.example.com/{{region}}/mcp', true],
      ['vscode', 'workspace', 'stdio', `server ${project}/src \${command:pickPort}`, true],
      ['vscode', 'tracker', 'http', 'https://other-tracker.example.com/mcp', true],
      ['windsurf', 'designs', 'http', 'https://designs.example.com/mcp', true],
      ['windsurf', 'resting', 'stdio', 'resting-server', false],
      ['cline', 'weather', 'http', 'https://weather.example.com/mcp', true],
      ['cline', 'old-news', 'sse', 'https://news.example.com/events', true],
      ['zed', 'postgres', 'stdio', 'postgres-server {{postgres_argument}}', true],
      ['zed', 'early', 'stdio', 'early-server --fast', true],
      ['gemini-cli', 'library', 'http', 'https://library.example.com/mcp', true],
      ['gemini-cli', 'stream', 'sse', 'https://stream.example.com/sse', true],
      ['gemini-cli', 'unwanted', 'stdio', 'unwanted-server', false],
      ['codex', 'docs', 'http', 'https://docs.example.com/mcp', true],
      ['codex', 'build', 'stdio', 'build-server --watch', false],
      ['opencode', 'tickets', 'http', 'https://tickets.example.com/mcp', true],
      ['opencode', 'files', 'stdio', 'files-server --root .', true],
      ['opencode', 'charts', 'http', 'https://charts.example.com/mcp', false],
      ['goose', 'archive', 'stdio', 'npx -y archive-server /srv/archive', true],
      ['goose', 'fleet', 'http', 'https://fleet.example.com/mcp', false],
    ])
    expect(files.flatMap(({ unusable }) => unusable)).toEqual([
      { name: 'socket', why: expect.stringContaining('local socket') },
      { name: 'from-extension', why: expect.stringContaining('extension') },
    ])
  })

  it('lists what is not imported of a server, and under which name it would be attached', async () => {
    const { files } = await foundBy([], makeHome())
    const notes = Object.fromEntries(
      files.flatMap(({ servers }) => servers.map(({ name, notes: all }) => [name, all.join(' ')])),
    )
    expect(notes).toMatchObject({
      'shell tools': expect.stringMatching(/Renamed to "shell-tools".*envFile is not read/),
      "project's own": expect.stringContaining('Renamed to "project-s-own"'),
      workspace: expect.stringMatching(/\$\{command:pickPort\}, which only VS Code can fill in/),
      library: expect.stringMatching(/timeout is limited to 300000 ms/),
      notes: '',
    })
    const trackers = files.flatMap(({ servers }) => servers.filter(({ name }) => name === 'tracker'))
    expect(trackers.map(({ notes: all }) => all)).toEqual([[], ['Renamed to "tracker-2".']])
  })

  it('reads only the tools and files that are named', async () => {
    const place = makeHome()
    expect((await foundBy(['codex'], place)).files.map(({ tool }) => tool)).toEqual(['codex'])
    const { files } = await foundBy(['~/.gemini/settings.json', '.vscode/mcp.json'], place)
    expect(files.map(({ tool }) => tool)).toEqual(['gemini-cli', 'vscode'])
    expect(await run(['emacs'], place)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^patchbay: Unknown tool "emacs"[^\n]*opencode[^\n]*\n$/),
    })
  })

  it.each([
    ['missing', 'absent.json', undefined, /absent\.json does not exist/],
    [
      'broken',
      'broken.json',
      '{\n  "mcpServers": {\n    "a": { "command" "x" }\n',
      /line 3, column 22: colon expected/,
    ],
    ['broken TOML', 'broken.toml', '[mcp_servers.a]\ncommand = \n', /line 2, column \d+/],
    ['broken YAML', 'broken.yaml', 'extensions:\n  a: {cmd: x\n', /line \d+, column \d+: [a-z]/],
    ['YAML whose aliases expand endlessly', 'bomb.yaml', BOMB, /excessive alias count/i],
    ['YAML nested too deeply', 'deep.yaml', '['.repeat(20_000), /nested too deeply|line \d+/],
    ['not an object', 'list.json', '[1]', /line 1, column 1: it is not an object/],
    ['nested too deeply', 'deep.json', '['.repeat(100_000), /nested more than 200 levels deep/],
    ['a folder', '.', undefined, /is a folder/],
  ])('reports what is wrong with a file that is %s, and exits with 1', async (_what, name, text, why) => {
    const place = makeFiles(text === undefined ? {} : { [name]: text })
    const { code, stderr } = await run([`./${name}`], place)
    expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 1, lines: 2 })
    expect(stderr).toMatch(why)
  })

  it('replaces control characters from a file, so that it cannot steer the terminal', async () => {
    const servers = { 'a\u001b[2Jb': { command: 'x', args: ['\u0007', 'line\nbreak', '\u202eback\u2066'] } }
    const { stdout } = await run(['./a.json'], makeFiles({ 'a.json': JSON.stringify({ mcpServers: servers }) }))
    expect(stdout).toContain('a\ufffd[2Jb: stdio x \ufffd line\ufffdbreak \ufffdback\ufffd\n')
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  it.skipIf(!existsSync('/dev/zero'))(
    'reads neither a device nor a value that a file refers to in a device',
    async () => {
      const value = `\${file:/dev/zero}`
      const servers = { one: { url: 'https://one.example.com/', headers: { 'X-Key': value } } }
      const place = makeFiles({ 'good.json': JSON.stringify({ mcpServers: servers }) })
      symlinkSync('/dev/zero', join(place.project, 'endless.json'))
      const { code, stderr } = await run(['./endless.json'], place)
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining('endless.json is not a regular file'),
      })
      const nowhere = { PATCHBAY_TOKEN: 'pb_x', PATCHBAY_BASE_URL: 'http://127.0.0.1:1' }
      const taken = await run(['./good.json', '--yes', '--new', 'x', '--from-environment'], place, nowhere)
      expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('No response from Patchbay') })
    },
  )

  it('skips a file that is too large, and reads the others', async () => {
    const place = makeFiles({ 'small.json': '{"mcpServers": {"one": {"command": "x"}}}' })
    writeFileSync(join(place.project, 'huge.json'), '')
    truncateSync(join(place.project, 'huge.json'), 33 * 1_024 * 1_024)
    const { code, stdout, stderr } = await run(['./huge.json', './small.json'], place)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/huge\.json has 34603008 bytes/) })
    expect(stdout).toContain('one: stdio x')
  })

  it('handles names that are unusual, repeated, or properties of every object', async () => {
    const servers = `{"mcpServers": {
      "a": {"command": "first"}, "a": {"command": "second"},
      "__proto__": {"command": "p"}, "constructor": {"command": "c"}, "日本": {"url": "https://x.example.com/"},
      "${'n'.repeat(300)}": {"command": "n"}, "proxy": {"command": "q"}, "": {"command": "e"},
      "number": 7, "typed": {"command": "x", "args": "not a list"}, "empty": {}
    }}`
    const { files } = await foundBy(['./odd.json'], makeFiles({ 'odd.json': servers }))
    const [file] = files
    expect(file?.notes).toEqual(['"a" occurs twice: the last one is used.'])
    expect(file?.servers.map(({ name, place, notes }) => [name.slice(0, 12), place, notes.join()])).toEqual([
      ['a', 'second', ''],
      ['__proto__', 'p', ''],
      ['constructor', 'c', ''],
      ['日本', 'https://x.example.com/', 'Renamed to "server".'],
      ['nnnnnnnnnnnn', 'n', `Renamed to "${'n'.repeat(64)}".`],
      ['proxy', 'q', 'Renamed to "upstream-proxy".'],
      ['', 'e', 'Renamed to "server-2".'],
    ])
    expect(file?.unusable).toEqual([
      { name: 'number', why: 'is not an object' },
      { name: 'typed', why: 'has a field "args" that is not a list of texts' },
      { name: 'empty', why: 'has neither a command nor a URL' },
    ])
  })
})

describe('importing MCP servers into a running Patchbay', () => {
  const patchbay = during(() => startPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } }))
  const operator = runUser(patchbay)
  const builder = runUser(patchbay)
  const take = (args: readonly string[], place: Place, api: ApiClient, env: NodeJS.ProcessEnv = {}) =>
    run(args, place, { PATCHBAY_TOKEN: api.token, PATCHBAY_BASE_URL: patchbay.origin, ...env })
  const takeJson = async (...args: Parameters<typeof take>) => {
    const { code, stdout, stderr } = await take([...args[0], '--json'], args[1], args[2], args[3])
    return { code, stderr, stdout, ...Outcome.parse(JSON.parse(stdout)) }
  }

  it('creates an upstream for each, with globals for variables and secrets, and prints no secret', async () => {
    const place = makeHome()
    writeFileSync(join(place.home, 'signature.txt'), 'fixture-secret-signature\n')
    const env = { TRACKER_TOKEN: 'fixture-secret-tracker', WIKI_TEAM: 'red', LIBRARY_READER: 'ann', DOCS_TOKEN: 't' }
    const taken = await takeJson(['--yes', '--new', 'All of them', '--from-environment'], place, operator, env)
    expect({ code: taken.code, skipped: taken.skipped, stderr: taken.stderr }).toEqual({
      code: 0,
      skipped: [],
      stderr: '',
    })
    expect(taken.stdout).not.toContain('fixture-secret')
    expect(taken.imported).toHaveLength(24)
    expect(taken.missingGlobals.toSorted()).toEqual(
      ['ARCHIVE_TOKEN', 'BUILD_TOKEN', 'DESIGNS_TOKEN', 'DOCS_WORKSPACE', 'TICKETS_TOKEN', 'maps-key'].toSorted(),
    )
    const upstreams = await upstreamsOf(operator, taken.server.id)
    expect(upstreams).toMatchObject({
      notes: {
        command: 'node',
        args: ['/opt/notes/server.js', '--folder', '/srv/notes'],
        env: { NOTES_TOKEN: '{{NOTES_TOKEN}}', NOTES_LANGUAGE: 'en' },
        enabled: true,
        missingGlobals: [],
      },
      tracker: { url: '{{TRACKER_URL}}/mcp', headers: { Authorization: 'Bearer {{TRACKER_TOKEN}}' } },
      'tracker-2': { url: 'https://other-tracker.example.com/mcp' },
      'shell-tools': { args: ['shell-tools', '--root', `${place.home}/work`, '--api-key={{shell-tools_api-key}}'] },
      maps: { url: 'https://maps.example.com/{{region}}/mcp', headers: { 'X-Api-Key': '{{maps-key}}' } },
      workspace: { cwd: place.project },
      designs: { headers: { Authorization: 'Bearer {{DESIGNS_TOKEN}}' }, deny: ['delete_design'] },
      resting: { enabled: false, state: { kind: 'disabled' } },
      weather: { timeoutMs: 45_000, transport: 'http' },
      'old-news': { transport: 'sse' },
      early: { command: 'early-server', args: ['--fast'], env: { EARLY: '1' } },
      library: {
        headers: { 'X-Reader': '{{LIBRARY_READER}}' },
        allow: ['find_book', 'borrow_book'],
        timeoutMs: 300_000,
      },
      unwanted: { cwd: '/srv', enabled: false },
      docs: {
        headers: { Authorization: 'Bearer {{DOCS_TOKEN}}', 'X-Workspace': '{{DOCS_WORKSPACE}}' },
        allow: ['search'],
        timeoutMs: 20_500,
      },
      build: { env: { BUILD_TOKEN: '{{BUILD_TOKEN}}', BUILD_MODE: 'fast' }, enabled: false },
      tickets: { headers: { Authorization: 'Bearer {{TICKETS_TOKEN}}', 'X-Signature': '{{signature.txt}}' } },
      files: { command: 'files-server', args: ['--root', '.'], env: { DEPTH: '3' } },
      charts: { url: 'https://charts.example.com/mcp', enabled: false },
      archive: {
        command: 'npx',
        env: { ARCHIVE_TOKEN: '{{ARCHIVE_TOKEN}}', ARCHIVE_MODE: 'read' },
        allow: ['list'],
        timeoutMs: 300_000,
      },
      fleet: { transport: 'http', headers: { Authorization: 'Bearer {{fleet_Authorization}}' }, enabled: false },
    })
    const globals = await globalsOf(operator, taken.server.id)
    expect(globals.flatMap(({ key, secret }) => (secret ? key : [])).toSorted()).toEqual(
      [
        'DOCS_TOKEN',
        'NOTES_TOKEN',
        'TRACKER_TOKEN',
        'fleet_Authorization',
        'postgres_argument',
        'shell-tools_api-key',
        'signature.txt',
        'wiki_apiKey',
      ].toSorted(),
    )
    expect(globals).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'TRACKER_URL', value: 'https://tracker.example.com' }),
        expect.objectContaining({ key: 'region', value: 'eu' }),
        expect.objectContaining({ key: 'WIKI_TEAM', value: 'red' }),
      ]),
    )
  })

  it('uses no value from the environment without permission', async () => {
    const env = { TRACKER_TOKEN: 'fixture-secret-tracker' }
    const taken = await takeJson(['--only', 'claude-code/tracker', '--new', 'x'], makeHome(), operator, env)
    expect(taken.missingGlobals).toEqual(['TRACKER_TOKEN'])
  })

  it('imports the named servers with the chosen features into an existing server, and not twice', async () => {
    const place = makeHome()
    const { id } = await builder.create('/servers', { name: 'Holder' })
    const args = ['--only', 'designs,cline/weather', '--features', 'tools,prompts', '--server', id]
    const first = await takeJson(args, place, builder)
    expect(first.imported.map(({ name }) => name)).toEqual(['designs', 'weather'])
    expect(await upstreamsOf(builder, id)).toMatchObject({
      designs: { features: { tools: true, resources: false, prompts: true } },
    })
    const again = await takeJson(args, place, builder)
    expect(again).toMatchObject({
      code: 1,
      imported: [],
      stderr: 'patchbay: 2 of 2 MCP servers could not be imported.\n',
    })
    expect(again.skipped[0]?.why).toContain('already has an MCP server named "designs"')
    expect(await take(['--only', 'nothing', '--server', id], place, builder)).toMatchObject({
      code: 1,
      stderr: 'patchbay: No MCP server called "nothing" was found.\n',
    })
  })

  it('rejects commands from everybody but the operator, says so, and imports the rest', async () => {
    const taken = await takeJson(['cursor', '--yes', '--new', 'Mine'], makeHome(), builder)
    expect(taken).toMatchObject({ code: 1, imported: [{ name: 'wiki' }] })
    expect(taken.skipped).toEqual([
      { name: 'shell tools', why: expect.stringMatching(/^Forbidden \(403\): Only the operator/) },
    ])
    expect((await globalsOf(builder, taken.server.id)).map(({ key }) => key)).not.toContain('shell-tools_api-key')
  })

  it('keeps two values with the same name apart', async () => {
    const server = (value: string) => ({ command: 'x', env: { SERVICE_KEY: value } })
    const text = JSON.stringify({ mcpServers: { a: server('one'), b: server('two'), c: server('one') } })
    const place = makeFiles({ 'mcp.json': text })
    const taken = await takeJson(['./mcp.json', '--yes', '--new', 'Keys'], place, operator)
    expect(await upstreamsOf(operator, taken.server.id)).toMatchObject({
      a: { env: { SERVICE_KEY: '{{SERVICE_KEY}}' } },
      b: { env: { SERVICE_KEY: '{{b_SERVICE_KEY}}' } },
      c: { env: { SERVICE_KEY: '{{SERVICE_KEY}}' } },
    })
  })

  it('warns about a secret that would be sent unencrypted', async () => {
    const headers = { Authorization: 'Bearer fixture-secret-plain' }
    const far = { url: 'http://tracker.example.com/mcp', headers }
    const text = JSON.stringify({ mcpServers: { far, near: { ...far, url: 'http://localhost:9/mcp' } } })
    const { imported } = await takeJson(
      ['./mcp.json', '--yes', '--new', 'Clear'],
      makeFiles({ 'mcp.json': text }),
      operator,
    )
    expect(imported.map(({ name, notes }) => [name, notes.join(' ')])).toEqual([
      ['far', expect.stringContaining('Credentials for tracker.example.com are sent over plain http')],
      ['near', ''],
    ])
  })

  it('reports an invalid token, an unknown server, and a Patchbay that does not respond', async () => {
    const place = makeFiles({ 'mcp.json': '{"mcpServers": {"a": {"url": "https://a.example.com/mcp"}}}' })
    const wanted = ['./mcp.json', '--yes', '--server', '00000000-0000-4000-8000-000000000000']
    expect(await take(wanted, place, builder)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/server not found/i),
    })
    const wrong = await take(wanted, place, builder, { PATCHBAY_TOKEN: 'pbk_wrong' })
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^patchbay: [^\n]+\n$/) })
    const nowhere = await take([...wanted, '--url', 'http://127.0.0.1:9'], place, builder)
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('http://127.0.0.1:9') })
    expect(await run(wanted, place)).toMatchObject({ code: 1, stderr: expect.stringContaining('PATCHBAY_TOKEN') })
    expect(await run(['./mcp.json', '--yes'], place)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--new'),
    })
  })

  it('works on this installation for an account, next to the running server, and leaves no token behind', async () => {
    const place = makeFiles({ 'mcp.json': '{"mcpServers": {"a": {"url": "https://a.example.com/mcp"}}}' })
    const { directory, env } = patchbay.settings
    const args = [
      'import',
      join(place.project, 'mcp.json'),
      '--yes',
      '--new',
      'Here',
      '--email',
      builder.email,
      '--json',
    ]
    const { code, stdout } = await runSharedCommand(args, { directory, env })
    expect(code).toBe(0)
    const { server } = Outcome.parse(JSON.parse(stdout))
    expect(await upstreamsOf(builder, server.id)).toMatchObject({ a: { url: 'https://a.example.com/mcp' } })
    const { items } = z
      .object({ items: z.array(z.object({ name: z.string() })) })
      .parse((await builder.send('GET', '/tokens')).body)
    expect(items.map(({ name }) => name)).toEqual(['test'])
  })
})

describe('importing commands that are not allowed', () => {
  it('fails even for the operator, and names the setting that forbids it', async () => {
    const directory = temporaryDirectory()
    const email = 'operator@example.com'
    await runSharedCommand(['user', 'create', '--email', email, '--password', 'correct horse battery'], { directory })
    const place = makeFiles({
      'mcp.json': '{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://b.example.com/"}}}',
    })
    const args = ['import', join(place.project, 'mcp.json'), '--yes', '--new', 'Here', '--email', email]
    const { code, stdout, stderr } = await runSharedCommand(args, { directory })
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'patchbay: 1 of 2 MCP servers could not be imported.\n' })
    expect(stdout).toMatch(/Attached b\n[\s\S]*Skipped a: Forbidden \(403\): .*PATCHBAY_ALLOW_STDIO/)
  })
})
