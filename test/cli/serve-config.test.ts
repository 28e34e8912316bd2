import { chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { freePort } from '../support/free-port.ts'
import { runSharedCommand, startCommand, temporaryDirectory } from '../support/process.ts'
import { during } from '../support/world.ts'
import { isAlive } from '../upstreams/support.ts'
import { reporter, reportIn } from './reporter.ts'

vi.setConfig({ testTimeout: 60_000 })

const Ready = z.object({
  ready: z.literal(true),
  url: z.string(),
  upstreams: z.array(z.string()),
  skipped: z.array(z.object({ name: z.string(), why: z.string() })),
})

/** Serves a file with this content. `write` replaces the file atomically, as editors do. The caller stops it. */
const startServing = async (content: unknown, env: NodeJS.ProcessEnv = {}, name = 'mcp.json') => {
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
  await running.said('"ready":true')
  const line = running
    .stdout()
    .split('\n')
    .find(text => text.includes('"ready":true'))
  const ready = Ready.parse(JSON.parse(line ?? ''))
  // Killing the process would leave its folder behind.
  const close = async (): Promise<void> => {
    running.kill('SIGTERM')
    await running.ended
  }
  return { ...running, file, write, port, ready, close }
}

const serve = async (...args: Parameters<typeof startServing>) => {
  const served = await startServing(...args)
  onTestFinished(served.close)
  return served
}

/** Returns the names of the served tools, except the tools that continue long results. */
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

/** Connects a client that has a session and counts notifications that the list of tools has changed. */
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

/** Returns the status of a request with this Host header, as a page served from that host would send it. */
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
  const served = during(() =>
    startServing({
      mcpServers: {
        one: reporter(['a']),
        'number two': reporter(['b']),
        off: { ...reporter(), disabled: true },
        bad: 1,
      },
    }),
  )

  it('is served as one server at a printed address, without an account, with the features of all its servers', async () => {
    expect(served.ready.upstreams).toEqual(['one', 'number-two', 'off'])
    expect(served.ready.skipped).toEqual([{ name: 'bad', why: 'It is not an object.' }])
    expect(served.ready.url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${served.port}/s/[0-9a-f-]{36}$`))
    const client = await connect(served.ready.url, 'number-two_report', 'one_report')
    expect((await servedNames(client)).toSorted()).toEqual(['number-two_report', 'one_report'])
    expect(reportIn(await client.callTool({ name: 'number-two_report' })).args).toEqual(['b'])
  })

  it("may be in VS Code's format, uses variables from the environment, and may name servers on this machine", async () => {
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
    const it = { type: 'stdio', ...reporter(args, variables) }
    const outer = await serve({ servers: { it, outer: { type: 'http', url: served.ready.url } } }, env)
    const client = await connect(outer.ready.url, 'it_report', 'outer_one_report')
    const report = reportIn(await client.callTool({ name: 'it_report' }))
    expect(report.args).toEqual([
      'from outside',
      // Unknown variables are left as written.
      `\${NOT_THERE}`,
      'instead',
      `\${env:NOT_THERE}`,
      '{{braces}}',
      '$HOME',
    ])
    expect(report.REPORTED).toBe('from outside!')
    // The process received the secret. Its report is masked, like any result with a secret of the server.
    expect(report.REPORTED_TOKEN).not.toBe(null)
    expect(report.REPORTED_TOKEN).not.toContain('fixture-secret')
    expect(outer.stdout() + outer.stderr()).not.toContain('fixture-secret')
    // Unlike the upstreams of tenants, this one may be on the local machine.
    expect(reportIn(await client.callTool({ name: 'outer_one_report' })).args).toEqual(['a'])
  })

  it('is served only to this machine: other hosts and origins are refused, and nobody can sign up', async () => {
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

  it('leaves no process and no folder behind when it stops; a later start keeps its address and cleans up after a kill', async () => {
    const folder = temporaryDirectory()
    const foldersOf = (pid: number): string[] =>
      readdirSync(folder).filter(name => name.startsWith(`patchbay-config-${pid}-`))
    const first = await serve({ mcpServers: { one: reporter() } }, { TMPDIR: folder })
    const client = await connect(first.ready.url, 'one_report')
    const { pid } = reportIn(await client.callTool({ name: 'one_report' }))
    expect(foldersOf(first.pid)).toHaveLength(1)
    first.kill('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' })
    expect(isAlive(pid)).toBe(false)
    expect(foldersOf(first.pid)).toEqual([])

    const env = { TMPDIR: folder, PATCHBAY_PORT: String(first.port) }
    const second = startCommand(['serve', '--config', first.file], { env })
    await second.said(`Patchbay serves ${first.file} at ${first.ready.url}`)
    second.kill('SIGKILL')
    await second.ended
    expect(foldersOf(second.pid)).toHaveLength(1)

    // Neither other users' folders nor the targets of symbolic links are removed.
    const victim = temporaryDirectory()
    mkdirSync(join(victim, 'processes'))
    writeFileSync(join(victim, 'processes', 'kept.json'), '{}')
    symlinkSync(victim, join(folder, 'patchbay-config-99999999-linked'))
    const foreign = join(folder, 'patchbay-config-99999999-foreign')
    mkdirSync(join(foreign, 'processes'), { recursive: true })
    writeFileSync(join(foreign, 'processes', 'kept.json'), '{}')
    if (process.getuid?.() === 0) chownSync(foreign, 65_534, 65_534)
    const { command, args } = reporter(['x'])
    const toml = `[mcp_servers.it]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`
    const third = await serve(toml, { TMPDIR: folder }, 'config.toml')
    expect(third.ready.upstreams).toEqual(['it'])
    expect(foldersOf(second.pid)).toEqual([])
    expect(existsSync(join(victim, 'processes', 'kept.json'))).toBe(true)
    // Only root can give the folder to another user. Without root, it is removed.
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
  const served = during(() => startServing({ mcpServers: {} }))
  /** Writes a configuration with servers that no other test uses, and connects a client to them. */
  const serveNext = async (mcpServers: Record<string, unknown>) => {
    served.write({ mcpServers })
    const names = Object.keys(mcpServers).map(name => `${name}_report`)
    const session = await connectSession(served.ready.url, ...names)
    await expect.poll(async () => (await session.toolNames()).toSorted()).toEqual(names.toSorted())
    return session
  }

  it('applies when it is saved: clients are notified, and their sessions and unchanged processes go on', async () => {
    const session = await serveNext({ one: reporter(['1']), two: reporter() })
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
    const session = await serveNext({ kept: reporter(['good']) })
    served.write('{"mcpServers": {\n  "kept": {"command" }\n}')
    await served.said('cannot be read at line 2, column')
    expect(reportIn(await session.client.callTool({ name: 'kept_report' })).args).toEqual(['good'])
    // An editor that writes in place leaves the file empty for a moment.
    served.write('')
    await served.said('The file contains no servers')
    rmSync(served.file)
    await served.said('The file does not exist')
    served.write({ mcpServers: { kept: { command: '' }, added: reporter() } })
    await served.said('"added":["added"]')
    await vi.waitFor(
      async () => expect((await session.toolNames()).toSorted()).toEqual(['added_report', 'kept_report']),
      {
        timeout: 10_000,
      },
    )
    expect(reportIn(await session.client.callTool({ name: 'kept_report' })).args).toEqual(['good'])
    expect(session.isClosed()).toBe(false)
  })

  it('notifies no client if it is saved without a change', async () => {
    const content = { same: reporter() }
    const session = await serveNext(content)
    const countReloads = (): number => served.stdout().split('reloaded the configuration file').length
    const [told, reloads] = [session.told(), countReloads()]
    served.write(`// a comment\n${JSON.stringify({ mcpServers: content })}`)
    const changed = session.changed()
    served.write({ mcpServers: { ...content, another: reporter() } })
    await changed
    expect(countReloads()).toBe(reloads + 1)
    expect(session.told()).toBeGreaterThan(told)
  })
})
