import { chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { freePort } from '../support/free-port.ts'
import { runSharedCommand, startCommand, temporaryDirectory } from '../support/process.ts'
import { isAlive } from '../upstreams/support.ts'
import { reporter, reportIn } from './reporter.ts'

vi.setConfig({ testTimeout: 60_000 })

const Ready = z.object({
  ready: z.literal(true),
  url: z.string(),
  upstreams: z.array(z.string()),
  skipped: z.array(z.object({ name: z.string(), why: z.string() })),
})

const foldersOf = (pid: number): string[] =>
  readdirSync(tmpdir()).filter(name => name.startsWith(`patchbay-config-${pid}-`))

/** Ends the process after the test. Killing it at once would leave its folder behind. */
const stopAfterTest = ({ kill, ended }: ReturnType<typeof startCommand>): void => {
  onTestFinished(async () => {
    kill('SIGTERM')
    await ended
  })
}

/** Serves a file with this content. `write` replaces the file atomically, as editors do. */
const serve = async (content: unknown, env: NodeJS.ProcessEnv = {}, name = 'mcp.json') => {
  const directory = temporaryDirectory()
  const file = join(directory, name)
  const write = (next: unknown): void => {
    writeFileSync(`${file}.new`, typeof next === 'string' ? next : JSON.stringify(next))
    renameSync(`${file}.new`, file)
  }
  write(content)
  const port = await freePort()
  const running = startCommand(['serve', '--config', name, '--json'], {
    directory,
    env: { PATCHBAY_PORT: String(port), PATCHBAY_LOG_LEVEL: 'info', ...env },
  })
  stopAfterTest(running)
  await running.said('"ready":true')
  const line = running
    .stdout()
    .split('\n')
    .find(text => text.includes('"ready":true'))
  const ready = Ready.parse(JSON.parse(line ?? ''))
  return { ...running, file, write, port, ready }
}

/** Returns the names of the served tools, without the tools that continue long results. */
const servedNames = async (client: Pick<Client | OlderClient, 'listTools'>): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).filter(name => !name.startsWith('proxy_'))

/** Connects a client and waits until these tools are listed. Serving starts before the upstreams have responded. */
const connect = async (url: string, ...tools: string[]): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  await expect.poll(() => servedNames(client)).toEqual(expect.arrayContaining(tools))
  return client
}

/** Connects a client with a session, which counts notifications about the list of tools. */
const connectSession = async (url: string, ...tools: string[]) => {
  const client = new OlderClient({ name: 'test', version: '1' })
  const changes: (() => void)[] = []
  let told = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    told++
    for (const resolve of changes.splice(0)) resolve()
  })
  let isClosed = false
  client.onclose = () => {
    isClosed = true
  }
  await client.connect(new OlderTransport(new URL(url)))
  onTestFinished(() => client.close())
  await expect.poll(() => servedNames(client)).toEqual(expect.arrayContaining(tools))
  return {
    client,
    isClosed: () => isClosed,
    told: () => told,
    changed: () => new Promise<void>(resolve => changes.push(resolve)),
    toolNames: () => servedNames(client),
  }
}

/** Returns the status of a request with this host name, as a page under its own host name would send it. */
const statusFor = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const sent = request(url, { method: 'POST', headers }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.once('error', reject)
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  })

describe('a served configuration file', () => {
  it('is served as one server at a printed address, without an account, with the features of all its servers', async () => {
    const served = await serve({
      mcpServers: {
        one: reporter(['a']),
        'number two': reporter(['b']),
        off: { ...reporter(), disabled: true },
        bad: 1,
      },
    })
    expect(served.ready.upstreams).toEqual(['one', 'number-two', 'off'])
    expect(served.ready.skipped).toEqual([{ name: 'bad', why: 'It is not an object.' }])
    expect(served.ready.url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${served.port}/s/[0-9a-f-]{36}$`))
    const client = await connect(served.ready.url, 'number-two_report', 'one_report')
    expect((await servedNames(client)).toSorted()).toEqual(['number-two_report', 'one_report'])
    expect(reportIn(await client.callTool({ name: 'number-two_report' })).args).toEqual(['b'])
  })

  it("may be in VS Code's format or TOML, and uses variables from the environment; unknown ones stay as written", async () => {
    const env = { REPORTED_ELSEWHERE: 'from outside', HIDDEN_TOKEN: 'fixture-secret' }
    const args = [
      `\${REPORTED_ELSEWHERE}`,
      `\${NOT_THERE}`,
      `\${NOT_THERE:-instead}`,
      `\${env:NOT_THERE}`,
      '{{braces}}',
      '$HOME',
    ]
    const variables = { REPORTED: `\${env:REPORTED_ELSEWHERE}!`, REPORTED_TOKEN: `\${HIDDEN_TOKEN}` }
    const served = await serve({ servers: { it: { type: 'stdio', ...reporter(args, variables) } } }, env)
    const client = await connect(served.ready.url, 'it_report')
    const report = reportIn(await client.callTool({ name: 'it_report' }))
    expect(report.args).toEqual([
      'from outside',
      `\${NOT_THERE}`,
      'instead',
      `\${env:NOT_THERE}`,
      '{{braces}}',
      '$HOME',
    ])
    expect(report.REPORTED).toBe('from outside!')
    // It received the secret. Its report is masked, like any secret of a server.
    expect(report.REPORTED_TOKEN).not.toBe(null)
    expect(report.REPORTED_TOKEN).not.toContain('fixture-secret')
    expect(served.stdout() + served.stderr()).not.toContain('fixture-secret')

    const toml = `[mcp_servers.it]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(reporter(['x']).args)}\n`
    const other = await serve(toml, {}, 'config.toml')
    expect(reportIn(await (await connect(other.ready.url, 'it_report')).callTool({ name: 'it_report' })).args).toEqual([
      'x',
    ])
  })

  it('can contain servers on this machine, unlike the servers of tenants', async () => {
    const inner = await serve({ mcpServers: { inner: reporter() } })
    const outer = await serve({ mcpServers: { outer: { url: inner.ready.url } } })
    const client = await connect(outer.ready.url, 'outer_inner_report')
    expect(reportIn(await client.callTool({ name: 'outer_inner_report' })).args).toEqual([])
  })

  it('is served only to this machine: other hosts and origins are refused, and nobody can sign up', async () => {
    const served = await serve({ mcpServers: {} })
    const { url } = served.ready
    const post = (headers: Record<string, string>) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      })
    expect((await post({ origin: 'https://evil.example.com' })).status).toBe(403)
    expect(await statusFor(url, 'evil.example.com')).toBe(403)
    expect(await statusFor(url, `127.0.0.1:${served.port}`)).toBe(200)
    const signUp = await fetch(new URL('/api/v1/signup', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'eve@example.com', password: 'correct horse battery' }),
    })
    expect(signUp.status).toBe(403)
    expect(served.stdout()).not.toContain('0.0.0.0')
  })

  it('leaves no process and no folder behind when it stops, and has the same address the next time', async () => {
    const served = await serve({ mcpServers: { one: reporter() } })
    const client = await connect(served.ready.url, 'one_report')
    const { pid } = reportIn(await client.callTool({ name: 'one_report' }))
    expect(foldersOf(served.pid)).toHaveLength(1)
    served.kill('SIGTERM')
    expect(await served.ended).toMatchObject({ code: 0, stderr: '' })
    expect(isAlive(pid)).toBe(false)
    expect(foldersOf(served.pid)).toEqual([])
    const second = startCommand(['serve', '--config', served.file], { env: { PATCHBAY_PORT: String(served.port) } })
    stopAfterTest(second)
    await second.said(`Patchbay serves ${served.file} at ${served.ready.url}`)
  })

  it('has its folder removed by the next start if its process was killed', async () => {
    const served = await serve({ mcpServers: { one: reporter() } })
    const client = await connect(served.ready.url, 'one_report')
    await client.callTool({ name: 'one_report' })
    served.kill('SIGKILL')
    await served.ended
    expect(foldersOf(served.pid)).toHaveLength(1)
    await serve({ mcpServers: {} })
    expect(foldersOf(served.pid)).toEqual([])
  })

  it('leaves folders of other users and the targets of links alone when it cleans up', async () => {
    const folder = temporaryDirectory()
    const victim = temporaryDirectory()
    mkdirSync(join(victim, 'processes'))
    writeFileSync(join(victim, 'processes', 'kept.json'), '{}')
    symlinkSync(victim, join(folder, 'patchbay-config-99999999-linked'))
    const foreign = join(folder, 'patchbay-config-99999999-foreign')
    mkdirSync(join(foreign, 'processes'), { recursive: true })
    writeFileSync(join(foreign, 'processes', 'kept.json'), '{}')
    if (process.getuid?.() === 0) chownSync(foreign, 65_534, 65_534)
    await serve({ mcpServers: {} }, { TMPDIR: folder })
    expect(existsSync(join(victim, 'processes', 'kept.json'))).toBe(true)
    // Only root can create what another user owns.
    expect(existsSync(join(foreign, 'processes', 'kept.json'))).toBe(process.getuid?.() === 0)
  })

  it.each([
    ['does not exist', undefined, /^patchbay: The file .*absent\.json does not exist\.\n$/],
    ['is broken', '{"mcpServers": {', /^patchbay: The file .* cannot be read at line 1, column 17: [^\n]+\n$/],
  ])('is rejected with the reason if it %s', async (_what, text, why) => {
    const directory = temporaryDirectory()
    if (text !== undefined) writeFileSync(join(directory, 'broken.json'), text)
    const name = text === undefined ? 'absent.json' : 'broken.json'
    expect(await runSharedCommand(['serve', '--config', name], { directory })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(why),
    })
  })
})

describe('a configuration file that changes while it is served', () => {
  it('applies when it is saved: clients are notified, and their sessions and unchanged processes go on', async () => {
    const served = await serve({ mcpServers: { one: reporter(['1']), two: reporter() } })
    const session = await connectSession(served.ready.url, 'one_report', 'two_report')
    expect((await session.toolNames()).toSorted()).toEqual(['one_report', 'two_report'])
    const { pid } = reportIn(await session.client.callTool({ name: 'one_report' }))

    const changed = session.changed()
    served.write({ mcpServers: { one: reporter(['1']), three: reporter(['3']) } })
    await changed
    await vi.waitFor(
      async () => expect((await session.toolNames()).toSorted()).toEqual(['one_report', 'three_report']),
      {
        timeout: 10_000,
      },
    )
    expect(reportIn(await session.client.callTool({ name: 'three_report' })).args).toEqual(['3'])
    expect(reportIn(await session.client.callTool({ name: 'one_report' })).pid).toBe(pid)

    served.write({
      mcpServers: { one: reporter(['changed']), three: { ...reporter(['3']), disabledTools: ['report'] } },
    })
    await vi.waitFor(async () => expect(await session.toolNames()).toEqual(['one_report']), { timeout: 10_000 })
    expect(reportIn(await session.client.callTool({ name: 'one_report' })).args).toEqual(['changed'])
    expect(session.isClosed()).toBe(false)
  })

  it('keeps its previous content while it is unreadable, and logs why; a rejected server stays as it was', async () => {
    const served = await serve({ mcpServers: { one: reporter(['good']) } })
    const session = await connectSession(served.ready.url, 'one_report')
    served.write('{"mcpServers": {\n  "one": {"command" }\n}')
    await served.said('cannot be read at line 2, column')
    expect(reportIn(await session.client.callTool({ name: 'one_report' })).args).toEqual(['good'])
    // An editor that writes in place leaves the file empty for a moment.
    served.write('')
    await served.said('The file contains no servers')
    rmSync(served.file)
    await served.said('The file does not exist')
    served.write({ mcpServers: { one: { command: '' }, two: reporter() } })
    await served.said('"added":["two"]')
    await vi.waitFor(async () => expect((await session.toolNames()).toSorted()).toEqual(['one_report', 'two_report']), {
      timeout: 10_000,
    })
    expect(reportIn(await session.client.callTool({ name: 'one_report' })).args).toEqual(['good'])
    expect(session.isClosed()).toBe(false)
  })

  it('notifies no client if it is saved without a change', async () => {
    const content = { mcpServers: { one: reporter() } }
    const served = await serve(content)
    const session = await connectSession(served.ready.url, 'one_report')
    const before = session.told()
    served.write(`// a comment\n${JSON.stringify(content)}`)
    const changed = session.changed()
    served.write({ mcpServers: { ...content.mcpServers, two: reporter() } })
    await changed
    expect(served.stdout().match(/reloaded the configuration file/g)).toHaveLength(1)
    expect(session.told()).toBeGreaterThan(before)
  })
})
