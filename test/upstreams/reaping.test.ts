import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { gone, isAlive, startProcesses } from './support.ts'

const serverFile = (name: string): string => join(import.meta.dirname, `servers/${name}.process.ts`)

let directory = ''
const pids: number[] = []
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'patchbay-ledger-'))
})
afterEach(() => {
  for (const pid of pids.splice(0).filter(isAlive)) process.kill(pid, 'SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

/** Starts a process that owns an upstream with two children, one inside its process group and one outside. */
const startOwner = async (): Promise<{ owner: ChildProcess; server: number; children: number[] }> => {
  const args = ['--disable-warning=ExperimentalWarning', serverFile('owner'), directory, serverFile('hostile')]
  const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise<string>(resolve => owner.stdout?.once('data', chunk => resolve(String(chunk))))
  const [server = 0, ...children] = line.trim().split(' ').map(Number)
  pids.push(owner.pid ?? 0, server, ...children)
  return { owner, server, children }
}
const endOf = (child: ChildProcess): Promise<unknown> => new Promise(resolve => child.once('exit', resolve))

const onLinux = process.platform === 'linux'

describe.runIf(onLinux)('the processes of a killed Patchbay', () => {
  it('are ended by the next start, and no other process is', async () => {
    const { owner, server, children } = await startOwner()
    const ended = endOf(owner)
    owner.kill('SIGKILL')
    await ended
    expect([server, ...children].map(isAlive)).toEqual([true, true, true])
    const next = startProcesses({ directory })
    expect(next.reap()).toBe(1)
    await gone([server, ...children])
    expect(readdirSync(directory)).toEqual([])
    expect(next.reap()).toBe(0)
  })

  it('are not confused with a process that now has the same PID', async () => {
    const { owner } = await startOwner()
    const ended = endOf(owner)
    owner.kill('SIGKILL')
    await ended
    const innocent = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 1e6)'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    pids.push(innocent.pid ?? 0)
    await new Promise(resolve => innocent.stdout.once('data', resolve))
    const [file = ''] = readdirSync(directory)
    const entry = JSON.parse(readFileSync(join(directory, file), 'utf8'))
    const other = { ...entry, mark: '00000000-0000-4000-8000-000000000000' }
    other.process = { ...entry.process, pid: innocent.pid }
    writeFileSync(join(directory, 'other.json'), JSON.stringify(other))
    expect(startProcesses({ directory }).reap()).toBe(1)
    expect(isAlive(innocent.pid ?? 0)).toBe(true)
    expect(readdirSync(directory)).toEqual([])
  })
})

describe.runIf(onLinux)('the processes of another Patchbay on the same data', () => {
  it('are not ended', async () => {
    const { owner, server } = await startOwner()
    expect(startProcesses({ directory }).reap()).toBe(0)
    expect([isAlive(owner.pid ?? 0), isAlive(server)]).toEqual([true, true])
    expect(readdirSync(directory)).toHaveLength(1)
  })
})

it.runIf(onLinux)('Patchbay ends its processes when it exits early', async () => {
  const { owner, server, children } = await startOwner()
  const ended = endOf(owner)
  owner.kill('SIGUSR2')
  await ended
  await gone([server, ...children])
})

it.runIf(onLinux)('PID files without content are removed', () => {
  writeFileSync(join(directory, 'broken.json'), '{"scope":')
  expect(startProcesses({ directory }).reap()).toBe(0)
  expect(readdirSync(directory)).toEqual([])
})
