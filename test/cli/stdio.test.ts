import { spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { compileCache } from '../support/compile-cache.ts'
import { follow, PROGRAM, startPatchbay, temporaryDirectory } from '../support/process.ts'
import { during, runUser } from '../support/world.ts'
import { isAlive } from '../upstreams/support.ts'
import { reporter, reportIn } from './reporter.ts'
import { startTalkingServer } from './talking-server.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const SAMPLE = 'http://sample.patchbay.internal'

type Start = { args: readonly string[]; env?: Record<string, string> }

const commandOf = ({ args, env = {} }: Start) => ({
  command: process.execPath,
  args: [PROGRAM, 'stdio', ...args],
  env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), PATCHBAY_LOG_LEVEL: 'warn', ...compileCache(), ...env },
  cwd: temporaryDirectory(),
  stderr: 'pipe' as const,
})

/** Creates a client of the older SDK generation. `connectOlder` connects it and closes it after the test. */
const olderClient = (options?: ConstructorParameters<typeof OlderClient>[1]) =>
  new OlderClient({ name: 'test', version: '1' }, options)
const connectOlder = async (start: Start, client = olderClient()): Promise<OlderClient> => {
  await client.connect(new OlderTransport(commandOf(start)))
  onTestFinished(() => client.close())
  return client
}

/** Connects a client of the newest SDK generation and closes it after the test. */
const connectNewest = async (start: Start, mode: 'legacy' | 'auto'): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StdioClientTransport(commandOf(start)))
  onTestFinished(() => client.close())
  if (mode === 'auto') expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
  return client
}

/** Clients of both SDK generations, with and without sessions. */
const CLIENTS = [
  { name: 'the older line', connect: (start: Start) => connectOlder(start) },
  { name: 'the newest line, with a session', connect: (start: Start) => connectNewest(start, 'legacy') },
  { name: 'the newest line, without sessions', connect: (start: Start) => connectNewest(start, 'auto') },
]

const Text = z.object({ content: z.array(z.looseObject({ type: z.literal('text'), text: z.string() })).min(1) })
const textOf = (result: unknown): string => Text.parse(result).content[0]?.text ?? ''

/** Starts the process for tests that write raw lines, including lines that no client would send. */
const startRaw = (start: Start) => {
  const { command, args, env, cwd } = commandOf(start)
  const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  const running = follow(child)
  onTestFinished(async () => {
    running.kill('SIGKILL')
    await running.ended
  })
  return {
    ...running,
    write: (text: string) => child.stdin.write(text),
    end: () => child.stdin.end(),
    /** Parses every received line. Throws if a line is not JSON. */
    messages: () =>
      running
        .stdout()
        .split('\n')
        .filter(line => line !== '')
        .map((line): unknown => JSON.parse(line)),
  }
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const lines = (...messages: unknown[]): string => messages.map(message => `${JSON.stringify(message)}\n`).join('')

describe('a server of a running Patchbay over stdio', () => {
  let made: Awaited<ReturnType<typeof makeServer>>
  const echo = { name: 'echo', method: 'POST', url: `${SAMPLE}/echo`, body: '{{json:body}}' }
  const patchbay = during(() => startPatchbay())
  const api = runUser(patchbay)
  beforeAll(async () => {
    made = await makeServer(api, [echo], { server: { access: 'private' } })
  })
  const toServer = (env: Record<string, string> = {}): Start => ({
    args: ['--server', made.serverId],
    env: { PATCHBAY_TOKEN: api.token ?? '', PATCHBAY_BASE_URL: patchbay.origin, ...env },
  })

  it.each(CLIENTS)('is listed and called by a client of $name', async ({ connect }) => {
    const client = await connect(toServer())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo'])
    const result = await client.callTool({ name: 'echo', arguments: { body: { a: 'ä' } } })
    expect(textOf(result)).toContain('"a":"ä"')
  })

  it('notifies its client of changed lists, also if started with the address of the server', async () => {
    const own = await makeServer(api, [echo])
    const client = olderClient()
    let told = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++)
    await connectOlder({ args: ['--server', own.url] }, client)
    expect((await client.listTools()).tools).toHaveLength(1)
    // Nothing signals that the notification stream is open, and earlier changes are not announced, so this retries.
    let names = 0
    await vi.waitFor(
      async () => {
        await api.expectOk('PATCH', `/instances/${own.instanceIds.echo}`, { name: `renamed-${++names}` })
        expect(told).toBeGreaterThan(0)
      },
      { timeout: 20_000, interval: 200 },
    )
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([`renamed-${names}`])
  })

  it.each([
    ['without a token', { PATCHBAY_TOKEN: '' }, /needs a personal access token.*PATCHBAY_TOKEN/],
    ['with a wrong token', { PATCHBAY_TOKEN: 'pbk_wrong' }, /rejected the token in PATCHBAY_TOKEN/],
    [
      'where no Patchbay runs',
      { PATCHBAY_BASE_URL: 'http://127.0.0.1:9' },
      /No response from Patchbay at http:\/\/127\.0\.0\.1:9/,
    ],
  ])('responds to the first request with what is missing %s', async (_what, env, why) => {
    const raw = startRaw(toServer(env))
    raw.write(lines(INITIALIZE))
    raw.end()
    expect(await raw.ended).toMatchObject({ code: 0, signal: null })
    expect(raw.messages()).toEqual([
      { jsonrpc: '2.0', id: 0, error: { code: expect.any(Number), message: expect.stringMatching(why) } },
    ])
  })

  it('passes on the error of the server for a request that it rejects', async () => {
    const raw = startRaw({ ...toServer(), args: ['--server', '00000000-0000-4000-8000-000000000000'] })
    raw.write(lines(INITIALIZE))
    raw.end()
    await raw.ended
    expect(raw.messages()).toEqual([
      { jsonrpc: '2.0', id: 0, error: { code: expect.any(Number), message: expect.stringMatching(/server/i) } },
    ])
  })

  it('responds to invalid messages and continues, and prints only messages to standard output', async () => {
    const raw = startRaw(toServer())
    raw.write('this is not JSON\n[]\n\n{"jsonrpc":"1.0"}\n')
    raw.write(`"${'x'.repeat(5 * 1_024 * 1_024)}"\n`)
    raw.write(lines(INITIALIZE, { jsonrpc: '2.0', method: 'notifications/initialized' }))
    raw.write(lines({ jsonrpc: '2.0', id: 'tools', method: 'tools/list' }))
    raw.end()
    expect(await raw.ended).toMatchObject({ code: 0, signal: null })
    expect(raw.messages()).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32_700, message: expect.stringContaining('Parse error') } },
      { jsonrpc: '2.0', id: null, error: { code: -32_600, message: expect.any(String) } },
      { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Invalid Request' } },
      { jsonrpc: '2.0', id: null, error: { code: -32_600, message: expect.stringContaining('larger than') } },
      expect.objectContaining({ id: 0 }),
      expect.objectContaining({ id: 'tools', result: expect.objectContaining({ tools: [expect.anything()] }) }),
    ])
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('exits with 0 on %s, while its input is open', async signal => {
    const raw = startRaw(toServer())
    raw.write(lines(INITIALIZE))
    await vi.waitFor(() => expect(raw.messages()).toHaveLength(1), { timeout: 20_000 })
    raw.kill(signal)
    expect(await raw.ended).toMatchObject({ code: 0, signal: null })
  })
})

describe('a server that sends requests and notifications, over stdio', () => {
  it('receives responses to its own requests, and its progress and log messages arrive', async () => {
    const server = await startTalkingServer()
    const client = olderClient({ capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: 'accept',
      content: { answer: `to ${params.message}` },
    }))
    const logged: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data))
    await connectOlder({ args: ['--server', server.olderUrl] }, client)
    const progress: unknown[] = []
    const result = await client.callTool({ name: 'ask' }, undefined, { onprogress: each => void progress.push(each) })
    expect(textOf(result)).toBe('to What?')
    expect(progress).toEqual([{ progress: 1, total: 2 }])
    expect(logged).toEqual(['asking'])
  })

  it('is notified of a cancelled request in a session', async () => {
    const server = await startTalkingServer()
    const client = await connectOlder({ args: ['--server', server.olderUrl] })
    const stop = new AbortController()
    const call = client.callTool({ name: 'wait' }, undefined, { signal: stop.signal })
    await server.waiting()
    stop.abort()
    await expect(call).rejects.toThrow()
    await server.cancelled()
  })

  it('sees a cancelled request as the end of its stream, without sessions', async () => {
    const server = await startTalkingServer()
    const client = await connectNewest({ args: ['--server', server.newerUrl] }, 'auto')
    const stop = new AbortController()
    const call = client.callTool({ name: 'wait' }, { signal: stop.signal })
    await server.waiting()
    stop.abort()
    await expect(call).rejects.toThrow()
    await server.cancelled()
  })
})

describe('a configuration file over stdio', () => {
  const fileOf = (content: unknown): string => {
    const file = join(temporaryDirectory(), 'mcp.json')
    writeFileSync(file, JSON.stringify(content))
    return file
  }

  it('is listed and called by a client, and leaves no process behind', async () => {
    const client = await connectOlder({ args: ['--config', fileOf({ mcpServers: { it: reporter(['a']) } })] })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('it_report')
    const report = reportIn(await client.callTool({ name: 'it_report' }))
    expect(report.args).toEqual(['a'])
    await client.close()
    await vi.waitFor(() => expect(isAlive(report.pid)).toBe(false), { timeout: 10_000 })
  })

  it('exits with 0 at the end of its input, leaves no folder behind, and logs to standard error', async () => {
    const raw = startRaw({
      args: ['--config', fileOf({ mcpServers: { it: reporter(), bad: {} } })],
      env: { PATCHBAY_LOG_LEVEL: 'info' },
    })
    raw.write(lines(INITIALIZE, { jsonrpc: '2.0', method: 'notifications/initialized' }))
    raw.write(lines({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
    await vi.waitFor(() => expect(raw.messages()).toHaveLength(2), { timeout: 20_000 })
    raw.end()
    expect(await raw.ended).toMatchObject({ code: 0, signal: null })
    expect(raw.stderr()).toMatch(/patchbay: Skipped "bad": It has neither a command nor a URL\./)
    expect(raw.stderr()).toContain('Server listening')
    expect(readdirSync(tmpdir()).filter(name => name.startsWith(`patchbay-config-${raw.pid}-`))).toEqual([])
  })
})
