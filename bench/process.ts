/** Child processes of the benchmark: where they run, what they use, and that none of them outlives it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { allowedCores, busyMsOf, cpuMsOf, residentBytesOf, treeOf } from './proc.ts'

/** Above Patchbay's own wait for calls under way. */
const STOP_MS = 15_000
const ANSWER_MS = 30_000

export type Memory = { rss: number; heapUsed: number; external: number }
export type Child = {
  name: string
  pid: number
  /** Undefined while it runs; then what it exited with, null when a signal ended it. */
  exitCode: () => number | null | undefined
  /** Resident memory as it is now. */
  residentBytes: () => number
  /** What is left after a full collection. */
  settledMemory: () => Promise<Memory>
  /** How long its event loop stood still at most since this was asked last; the first question begins it. */
  blockedMs: () => Promise<number>
  stop: () => Promise<void>
}
export type StartOptions = {
  name: string
  /** `server` has a core of its own; the API and the load share the other one. */
  side: 'server' | 'load'
  args: readonly string[]
  env?: Record<string, string>
  cwd?: string
}
/**
 * CPU since the meter was made. `serverMs`: of the server and all that it has started, `ownMs`: of the server alone,
 * `foreignMs`: of everything that is not ours, on the cores we use.
 */
export type Usage = { serverMs: number; ownMs: number; foreignMs: number; elapsedMs: number }
/** A process that is spoken to over its standard input and output. */
export type Piped = { stdin: Writable; stdout: Readable; stop: () => Promise<void> }

const delay = (ms: number) => new Promise(resolve => setTimeout(resolve, ms).unref())
const isMemory = (value: unknown): value is Memory => typeof value === 'object' && value !== null && 'rss' in value
const isDelay = (value: unknown): value is { blockedMs: number } =>
  typeof value === 'object' && value !== null && 'blockedMs' in value

/** Two cores, the server's and the load's, when there are two and taskset is installed. */
const findCores = (): readonly [number, number] | undefined => {
  const [server, load] = allowedCores()
  if (server === undefined || load === undefined) return undefined
  return spawnSync('taskset', ['--version']).error === undefined ? [server, load] : undefined
}

/** What `child.mjs` tells when it is asked. */
const ask = async <T>(child: ChildProcess, name: string, question: string, isAnswer: (told: unknown) => told is T) => {
  child.send(question)
  const signal = AbortSignal.timeout(ANSWER_MS)
  for (;;) {
    const [told]: unknown[] = await once(child, 'message', { signal })
    if (isAnswer(told)) return told
    if (child.exitCode !== null) throw new Error(`${name} ended while it was asked for its ${question}`)
  }
}

const stopProcess = async (child: ChildProcess, pid: number): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const tree = treeOf(pid)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await Promise.race([ended, delay(STOP_MS)])
  for (const member of tree) {
    try {
      process.kill(member, 'SIGKILL')
    } catch {
      // Ended by itself.
    }
  }
  await ended
}

/** `logFile` gets what the children print. */
export const createRig = (logFile: string) => {
  const cores = findCores()
  const children = new Set<Child>()
  const log = openSync(logFile, 'a')
  if (cores !== undefined) spawnSync('taskset', ['-a', '-c', '-p', String(cores[1]), String(process.pid)])

  /** Only what a process needs to run at all: no setting of ours may leak in from the shell. */
  const bareEnvironment = () => ({ PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR })

  const onCore = (side: StartOptions['side'], args: readonly string[]): readonly [string, string[]] => {
    const core = cores?.[side === 'server' ? 0 : 1]
    const node = [process.execPath, ...args]
    const [command = '', ...rest] = core === undefined ? node : ['taskset', '-c', String(core), ...node]
    return [command, rest]
  }

  const start = ({ name, side, args, env = {}, cwd }: StartOptions): Child => {
    const [command, rest] = onCore(side, ['--import', new URL('./child.mjs', import.meta.url).href, ...args])
    const spawned = spawn(command, rest, {
      env: { ...bareEnvironment(), ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ['ignore', log, log, 'ipc'],
    })
    const { pid } = spawned
    if (pid === undefined) throw new Error(`${name} could not be started: ${command}`)
    const child: Child = {
      name,
      pid,
      exitCode: () => (spawned.exitCode === null && spawned.signalCode === null ? undefined : spawned.exitCode),
      residentBytes: () => residentBytesOf(treeOf(pid)),
      settledMemory: () => ask(spawned, name, 'memory', isMemory),
      blockedMs: async () => (await ask(spawned, name, 'delay', isDelay)).blockedMs,
      stop: () => stopProcess(spawned, pid),
    }
    children.add(child)
    spawned.on('exit', () => children.delete(child))
    return child
  }

  /** It ends with its input, however the benchmark ends. */
  const startPiped = ({ name, side, args }: StartOptions): Piped => {
    const [command, rest] = onCore(side, args)
    const spawned = spawn(command, rest, { env: bareEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] })
    const { pid, stdin, stdout } = spawned
    if (pid === undefined) throw new Error(`${name} could not be started: ${command}`)
    return { stdin, stdout, stop: () => stopProcess(spawned, pid) }
  }

  /** Starts to count; the returned function reads what was used since. */
  const meter = (server: Child): (() => Usage) => {
    const usage = () => {
      const self = process.cpuUsage()
      const ours = [...children].flatMap(child => treeOf(child.pid))
      return {
        at: performance.now(),
        server: cpuMsOf(treeOf(server.pid)),
        own: cpuMsOf([server.pid]),
        ours: cpuMsOf(ours) + (self.user + self.system) / 1_000,
        busy: busyMsOf(cores ?? []),
      }
    }
    const from = usage()
    return () => {
      const to = usage()
      return {
        serverMs: to.server - from.server,
        ownMs: to.own - from.own,
        foreignMs: Math.max(0, to.busy - from.busy - (to.ours - from.ours)),
        elapsedMs: to.at - from.at,
      }
    }
  }

  const stopAll = async (): Promise<void> => {
    await Promise.all([...children].map(child => child.stop()))
  }
  return { isPinned: cores !== undefined, start, startPiped, meter, stopAll, close: () => closeSync(log) }
}
export type Rig = ReturnType<typeof createRig>

/** A port of the loopback interface that nothing listens on. */
export const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
