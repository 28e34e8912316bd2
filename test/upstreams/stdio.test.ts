import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { runMark } from '../support/leftovers.ts'
import {
  callTool,
  commandOf,
  everythingCommand,
  faultOf,
  gone,
  LEDGER,
  openUpstream,
  startProcesses,
  stateOf,
} from './support.ts'

const hostile = (behaviour = 'serve') => commandOf('hostile', behaviour)
const pidOf = async (upstream: ReturnType<typeof openUpstream>): Promise<number> =>
  Number(await callTool(upstream, 'pid'))

// After all tests in this file, none of their processes is still running.
afterAll(() => {
  expect(existsSync(LEDGER) ? readdirSync(LEDGER) : []).toEqual([])
})

describe('an upstream over stdio', () => {
  it('responds as it does to any client', async () => {
    const upstream = openUpstream(everythingCommand())
    expect(upstream.state()).toEqual({ kind: 'idle' })
    const client = await upstream.get()
    expect(upstream.state()).toEqual({ kind: 'connected' })
    expect(client.getServerVersion()?.name).toContain('everything')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('echo')
    expect(await callTool(upstream, 'echo', { message: 'hello' })).toBe('Echo: hello')
    const { prompts } = await client.listPrompts()
    const { resources } = await client.listResources()
    expect([prompts.length > 0, resources.length > 0]).toEqual([true, true])
  })

  it('gets a dedicated process for a client that can be asked', async () => {
    const asked: unknown[] = []
    const shared = openUpstream(everythingCommand())
    const own = openUpstream(everythingCommand(), {
      setup: {
        capabilities: { sampling: {} },
        prepare: client => {
          client.setRequestHandler('sampling/createMessage', ({ params }) => {
            asked.push(params.maxTokens)
            return { model: 'none', role: 'assistant', content: { type: 'text', text: 'sampled' } }
          })
        },
      },
    })
    const namesOf = async (upstream: typeof own): Promise<string[]> =>
      (await upstream.run(client => client.listTools())).tools.map(({ name }) => name)
    expect(await namesOf(shared)).not.toContain('trigger-sampling-request')
    expect(await namesOf(own)).toContain('trigger-sampling-request')
    expect(await callTool(own, 'trigger-sampling-request', { prompt: 'hi', maxTokens: 7 })).toContain('sampled')
    expect(asked).toEqual([7])
  })

  it('announces a changed list in the stateless era', async () => {
    const upstream = openUpstream(commandOf('sdk-new'))
    expect((await upstream.get()).getProtocolEra()).toBe('modern')
    expect(await callTool(upstream, 'echo', { text: 'hello' })).toBe('hello')
    const told = new Promise(resolve => upstream.onNotification(({ method }) => resolve(method)))
    await callTool(upstream, 'grow')
    expect(await told).toBe('notifications/tools/list_changed')
  })

  it('announces a changed list in the session era', async () => {
    const upstream = openUpstream(commandOf('sdk-old'))
    expect((await upstream.get()).getProtocolEra()).toBe('legacy')
    const told = new Promise(resolve => upstream.onNotification(({ method }) => resolve(method)))
    await callTool(upstream, 'grow')
    expect(await told).toBe('notifications/tools/list_changed')
  })

  it('that exits when probed for the stateless era is called in the session era', async () => {
    const upstream = openUpstream(hostile('ends-at-questions'))
    expect(await callTool(upstream, 'echo', { text: 'still here' })).toBe('still here')
  })

  it('that prints a greeting to stdout works, and the greeting is logged', async () => {
    const upstream = openUpstream(hostile('greets'))
    expect(await callTool(upstream, 'echo', { text: 'a' })).toBe('a')
    expect(upstream.log().map(({ source, text }) => `${source} ${text}`)).toEqual([
      'stdout Welcome to the server!',
      'stdout Listening on stdio',
    ])
  })

  it('receives the configured environment variables and the basic ones', async () => {
    process.env.PATCHBAY_TEST_SECRET = 'must not be seen'
    const upstream = openUpstream({ ...hostile(), env: { SHOWN: 'yes; rm -rf /' } })
    const seen: Record<string, string> = JSON.parse(await callTool(upstream, 'environment'))
    delete process.env.PATCHBAY_TEST_SECRET
    const given = ['HOME', 'PATH', 'SHOWN', 'STARTED_BY_PATCHBAY', ...Object.keys(runMark())]
    expect(Object.keys(seen).sort()).toEqual(given.sort())
    expect(seen.SHOWN).toBe('yes; rm -rf /')
  })

  it('is started without a shell, in its working directory', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'patchbay-cwd-'))
    onTestFinished(() => rmSync(cwd, { recursive: true }))
    const config = hostile()
    const upstream = openUpstream({ ...config, args: [...config.args, '; touch made', '$(touch made)'], cwd })
    expect(await callTool(upstream, 'directory')).toBe(cwd)
    expect(readdirSync(cwd)).toEqual([])
  })
})

describe('a process', () => {
  it('is started once and shared, however many callers wait for it', async () => {
    const upstream = openUpstream(hostile())
    const pids = await Promise.all(Array.from({ length: 20 }, () => pidOf(upstream)))
    expect(new Set(pids).size).toBe(1)
    expect(upstream.processes.count()).toBe(1)
  })

  it('that is killed fails calls in progress with a clear error, and the next call restarts it', async () => {
    const upstream = openUpstream(hostile())
    const pid = await pidOf(upstream)
    const calls = Array.from({ length: 10 }, () => faultOf(callTool(upstream, 'hang')))
    await upstream.run(client => client.listTools())
    process.kill(pid, 'SIGKILL')
    for (const { kind, message } of await Promise.all(calls)) {
      expect([kind, message]).toEqual(['exited', expect.stringContaining('The process was terminated by SIGKILL')])
    }
    expect(upstream.state()).toMatchObject({ kind: 'failed', why: expect.stringContaining('SIGKILL') })
    const another = await pidOf(upstream)
    expect(another).not.toBe(pid)
    expect(upstream.state()).toEqual({ kind: 'connected' })
    expect(upstream.processes.count()).toBe(1)
  })

  it('that should always run is restarted automatically', async () => {
    const upstream = openUpstream(hostile(), { isEager: true, limits: { retryDelaysMs: [10] } })
    await stateOf(upstream, ({ kind }) => kind === 'connected')
    const pid = await pidOf(upstream)
    const failed = stateOf(upstream, ({ kind }) => kind === 'failed')
    process.kill(pid, 'SIGKILL')
    expect(await failed).toMatchObject({ nextTryAt: expect.any(Date) })
    await stateOf(upstream, ({ kind }) => kind === 'connected')
    expect(await pidOf(upstream)).not.toBe(pid)
  })

  it('that is idle is stopped, and restarted by the next call', async () => {
    const upstream = openUpstream(hostile(), { limits: { idleMs: 50 } })
    const pid = await pidOf(upstream)
    await stateOf(upstream, ({ kind }) => kind === 'idle')
    await gone([pid])
    expect(await pidOf(upstream)).not.toBe(pid)
  })

  it('is not idle while a call is in progress or it is held', async () => {
    const upstream = openUpstream(hostile(), { limits: { idleMs: 20 } })
    const pid = await pidOf(upstream)
    const release = upstream.hold()
    const stop = new AbortController()
    const hanging = faultOf(callTool(upstream, 'hang', {}, stop.signal))
    // In the meantime, another process with the same timeout becomes idle and ends.
    const other = openUpstream(hostile(), { limits: { idleMs: 20 } })
    await other.get()
    await stateOf(other, ({ kind }) => kind === 'idle')
    expect(upstream.state()).toEqual({ kind: 'connected' })
    stop.abort()
    expect((await hanging).kind).toBe('aborted')
    release()
    await stateOf(upstream, ({ kind }) => kind === 'idle')
    await gone([pid])
  })

  it('that crashes takes its child processes along', async () => {
    const upstream = openUpstream(hostile())
    const children = (await callTool(upstream, 'fork')).split(' ').map(Number)
    expect((await faultOf(callTool(upstream, 'die'))).message).toContain('exited with code 7')
    await gone(children)
  })

  it('that ignores SIGTERM is killed', async () => {
    const upstream = openUpstream(hostile('is-stubborn'), { processes: startProcesses({ endGraceMs: 50 }) })
    const pid = await pidOf(upstream)
    await upstream.close()
    await gone([pid])
  })

  it('can be stopped while it is initializing', async () => {
    const upstream = openUpstream(hostile('is-silent'))
    const opening = faultOf(upstream.get())
    await stateOf(upstream, ({ kind }) => kind === 'connecting')
    await upstream.close()
    expect((await opening).kind).toBe('aborted')
    expect(upstream.processes.count()).toBe(0)
    expect((await faultOf(upstream.get())).kind).toBe('aborted')
  })
})

describe('a command', () => {
  it('that does not exist is named in the error, and leaves no process', async () => {
    const upstream = openUpstream({ ...hostile(), command: '/nowhere/server' })
    const { kind, message } = await faultOf(upstream.get())
    expect(kind).toBe('command_not_found')
    expect(message).toBe(
      'The command /nowhere/server was not found on this machine. Install it or enter its full path.',
    )
    expect(upstream.state()).toMatchObject({ kind: 'failed', why: message, nextTryAt: expect.any(Date) })
    expect(upstream.processes.count()).toBe(0)
  })

  it('that contains a secret is named without it', async () => {
    const config = { ...hostile(), command: '/nowhere/s3cr3t-value' }
    const upstream = openUpstream(config, { secrets: ['s3cr3t-value'] })
    expect((await faultOf(upstream.get())).message).toContain('The command /nowhere/…')
    expect(JSON.stringify([upstream.state(), upstream.log()])).not.toContain('s3cr3t')
  })

  it('that the system cannot run, or whose PID file cannot be written, is not started', async () => {
    const broken = { ...hostile(), args: ['a\0b'] }
    expect((await faultOf(openUpstream(broken).get())).message).toContain('could not be started')
    const processes = startProcesses({ directory: '/dev/null/processes' })
    const { message } = await faultOf(openUpstream(hostile(), { processes }).get())
    expect(message).toContain('(ENOTDIR). Check its arguments, and that Patchbay can write to its data folder')
    expect(processes.count()).toBe(0)
  })

  it('that is not executable, or whose directory does not exist, is reported', async () => {
    const script = { ...hostile(), command: import.meta.filename }
    expect((await faultOf(openUpstream(script).get())).message).toContain(
      'Patchbay is not allowed to execute the command',
    )
    const lost = { ...hostile(), cwd: '/nowhere' }
    expect((await faultOf(openUpstream(lost).get())).message).toContain('working directory /nowhere does not exist')
  })

  it('that exits at once is reported with its exit code, and its output is logged', async () => {
    const upstream = openUpstream(hostile('exits'))
    const { kind, message } = await faultOf(upstream.get())
    expect([kind, message]).toEqual(['exited', expect.stringContaining('exited with code 3')])
    expect(upstream.log().map(({ text }) => text)).toContain('the configuration is missing')
  })

  it('that exits at once is started once per retry, and works once it keeps running', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'patchbay-starts-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const script = 'echo start >> starts; test -e good || exit 3; exec "$0" "$@"'
    const { command, args } = hostile('ends-at-questions')
    const config = { ...hostile(), command: '/bin/sh', args: ['-c', script, command, ...args], cwd: folder }
    const upstream = openUpstream(config, { limits: { retryDelaysMs: [60_000] } })
    const starts = (): number => readFileSync(join(folder, 'starts'), 'utf8').split('\n').length - 1
    const counts: number[] = []
    for (let tries = 0; tries < 3; tries++) {
      expect((await faultOf(upstream.get())).kind).toBe('exited')
      counts.push(starts())
    }
    expect(counts).toEqual([2, 3, 4])
    writeFileSync(join(folder, 'good'), '')
    await expect.poll(() => callTool(upstream, 'echo', { text: 'good' }).catch(() => 'still bad')).toBe('good')
  })
})

describe('a response', () => {
  it('that does not match its own schema is passed on unchanged', async () => {
    const upstream = openUpstream(hostile())
    await upstream.run(client => client.listTools())
    const result = await upstream.run((client, options) => client.callTool({ name: 'structured' }, options))
    expect(result.structuredContent).toEqual({ other: 1 })
  })

  it('after other output is read, and that output is logged without colours and secrets', async () => {
    const secrets = ['s3cr3t-value']
    const upstream = openUpstream({ ...hostile(), env: { SECRET: 's3cr3t-value' } }, { secrets })
    expect(await callTool(upstream, 'chatter')).toBe('after rubbish')
    await expect
      .poll(() =>
        upstream
          .log()
          .map(({ source, text }) => `${source} ${text}`)
          .sort(),
      )
      .toEqual(['stderr red and …', 'stdout [1,2]', 'stdout this is no MCP', 'stdout {"jsonrpc":"1.0"}'])
  })

  it('that would exhaust the memory ends the process', async () => {
    const processes = startProcesses({ maxMemoryBytes: 400 * 1_024 * 1_024, memoryCheckIntervalMs: 20 })
    const upstream = openUpstream(hostile(), { processes })
    const pid = await pidOf(upstream)
    const { kind, message } = await faultOf(callTool(upstream, 'eat'))
    expect([kind, message]).toEqual(['too_large', expect.stringContaining('MiB of memory')])
    await gone([pid])
  })
})
