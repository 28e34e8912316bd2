/** Starts, measures and stops the benchmark's child processes. None of them outlives the benchmark. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { createServer } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { allowedCores, busyMsOf, cpuMsOf, ownCpuMsOf, peakBytesOfDescendants, residentBytesOf, treeOf } from './proc.ts'

/** Longer than Patchbay itself waits for pending calls before it stops. */
const STOP_MS = 15_000
const REPLY_MS = 30_000
/** The kernel keeps the peak of each process, so only the end of a process can be missed, and not by more than this. */
const WATCH_MS = 20

export type Memory = { rss: number; heapUsed: number; external: number }
export type Child = {
  name: string
  pid: number
  /** Returns undefined while the process runs, and null if a signal ended it. */
  exitCode: () => number | null | undefined
  /** Returns the resident memory of the process and its descendants. */
  residentBytes: () => number
  /** Watches the memory of the processes that it starts. The returned function returns the peak in bytes. */
  watchDescendants: () => () => number
  /** Returns the memory after a full garbage collection. */
  settledMemory: () => Promise<Memory>
  /** Returns the longest time the event loop was blocked since the last call. The first call starts the measurement. */
  blockedMs: () => Promise<number>
  /** Starts a CPU profile of the main thread. The returned function stops it. */
  profile: () => Promise<() => Promise<Profiler.Profile>>
  stop: () => Promise<void>
}
export type StartOptions = {
  name: string
  /** `server` runs on its own core. The API and the load share the other core. `both` runs on both cores. */
  side: 'server' | 'load' | 'both'
  args: readonly string[]
  env?: Record<string, string>
  cwd?: string
}
/**
 * CPU time since the meter was created. `serverMs` is the time of the server and its descendants, `ownMs` that of the
 * server alone, and `foreignMs` that of all processes outside the benchmark on the benchmark's cores.
 */
export type Usage = { serverMs: number; ownMs: number; foreignMs: number; elapsedMs: number }
/** A process that communicates over stdio. */
export type Piped = { stdin: Writable; stdout: Readable; stop: () => Promise<void> }

const delay = (ms: number) => new Promise(resolve => setTimeout(resolve, ms).unref())
const isMemory = (value: unknown): value is Memory => typeof value === 'object' && value !== null && 'rss' in value
const isDelay = (value: unknown): value is { blockedMs: number } =>
  typeof value === 'object' && value !== null && 'blockedMs' in value
const isProfiling = (value: unknown): value is { isProfiling: true } =>
  typeof value === 'object' && value !== null && 'isProfiling' in value
const isProfile = (value: unknown): value is { profile: Profiler.Profile } =>
  typeof value === 'object' && value !== null && 'profile' in value

/** Returns a core for the server and one for the load, if there are two and taskset is installed. */
const findCores = (): readonly [number, number] | undefined => {
  const [server, load] = allowedCores()
  if (server === undefined || load === undefined) return undefined
  return spawnSync('taskset', ['--version']).error === undefined ? [server, load] : undefined
}

const watchDescendants = (pid: number): (() => number) => {
  let peakBytes = 0
  const sample = (): void => {
    peakBytes = Math.max(peakBytes, peakBytesOfDescendants(pid))
  }
  const timer = setInterval(sample, WATCH_MS)
  return () => {
    clearInterval(timer)
    sample()
    return peakBytes
  }
}

/** Sends a request to `child.mjs` and returns its reply. */
const ask = async <T>(child: ChildProcess, name: string, request: string, isReply: (reply: unknown) => reply is T) => {
  child.send(request)
  const signal = AbortSignal.timeout(REPLY_MS)
  for (;;) {
    const [reply]: unknown[] = await once(child, 'message', { signal })
    if (isReply(reply)) return reply
    if (child.exitCode !== null) throw new Error(`${name} exited before it reported its ${request}`)
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
      // Already exited.
    }
  }
  await ended
}

/** Creates the object that starts and measures the child processes. Their output goes to `logFile`. */
export const createRig = (logFile: string) => {
  const cores = findCores()
  const children = new Set<Child>()
  const log = openSync(logFile, 'a')
  if (cores !== undefined) spawnSync('taskset', ['-a', '-c', '-p', String(cores[1]), String(process.pid)])

  /** Contains only the basic variables, so that no setting leaks in from the shell. */
  const bareEnvironment = () => ({ PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR })

  const onCore = (side: StartOptions['side'], args: readonly string[]): readonly [string, string[]] => {
    const core = side === 'both' ? cores?.join() : cores?.[side === 'server' ? 0 : 1]
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
    if (pid === undefined) throw new Error(`${name} could not be started with ${command}`)
    const child: Child = {
      name,
      pid,
      exitCode: () => (spawned.exitCode === null && spawned.signalCode === null ? undefined : spawned.exitCode),
      residentBytes: () => residentBytesOf(treeOf(pid)),
      watchDescendants: () => watchDescendants(pid),
      settledMemory: () => ask(spawned, name, 'memory', isMemory),
      blockedMs: async () => (await ask(spawned, name, 'delay', isDelay)).blockedMs,
      profile: async () => {
        await ask(spawned, name, 'start-profile', isProfiling)
        return async () => (await ask(spawned, name, 'stop-profile', isProfile)).profile
      },
      stop: () => stopProcess(spawned, pid),
    }
    children.add(child)
    spawned.on('exit', () => children.delete(child))
    return child
  }

  /** Starts a process that exits when its standard input closes, so that it ends with the benchmark. */
  const startPiped = ({ name, side, args }: StartOptions): Piped => {
    const [command, rest] = onCore(side, args)
    const spawned = spawn(command, rest, { env: bareEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] })
    const { pid, stdin, stdout } = spawned
    if (pid === undefined) throw new Error(`${name} could not be started with ${command}`)
    return { stdin, stdout, stop: () => stopProcess(spawned, pid) }
  }

  /** Starts a measurement. The returned function returns the usage since then. */
  const meter = (server: Child): (() => Usage) => {
    const usage = () => {
      return {
        at: performance.now(),
        server: cpuMsOf(treeOf(server.pid)),
        own: ownCpuMsOf(server.pid),
        ours: cpuMsOf(treeOf(process.pid)),
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

/** Returns a loopback port on which nothing listens. */
export const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
