import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { measureMemory } from '../../lib/process/proc.ts'
import { createPidFiles, killMarked, MARK } from './pid-files.ts'

type Child = ChildProcessByStdio<Writable, Readable, Readable>

export type ProcessCommand = {
  command: string
  args: readonly string[]
  /** Variables added to the common environment. */
  env: Readonly<Record<string, string>>
  cwd?: string | undefined
}

export type ProcessEnd = { code: number | null; signal: NodeJS.Signals | null }

export type StdioProcess = {
  pid: number
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Resolves once the process and everything it started are gone. Its output may still be read afterward. */
  ended: Promise<ProcessEnd>
  /** Stops the process, by force if necessary. Resolves once the process is gone. May be called more than once. */
  end: () => Promise<void>
}

export type StdioProcessesOptions = {
  /** Directory of the PID files, next to the database. */
  directory: string
  /** The environment of every command, such as PATH and HOME. Nothing else of Patchbay's environment is passed on. */
  environment: Readonly<Record<string, string>>
  maxMemoryBytes?: number
  memoryCheckIntervalMs?: number
  /** Time between SIGTERM and SIGKILL. */
  endGraceMs?: number
}

/** Far more than an adapter needs, but low enough that a few processes cannot exhaust the machine's memory. */
const MAX_MEMORY_BYTES = 1_024 * 1_024 * 1_024
const MEMORY_CHECK_INTERVAL_MS = 2_000
/**
 * Time between SIGTERM and SIGKILL. In the specification, stdio shutdown also waits between closing stdin and SIGTERM.
 * Here, these two steps happen together.
 */
const END_GRACE_MS = 2_000

const killGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal)
  } catch {
    // The process group is empty.
  }
}

/**
 * Starts the commands of stdio upstreams. Each command runs without a shell and leads its own process group. `end`,
 * `close` and Patchbay's exit end all of its processes. If Patchbay is killed by SIGKILL, `reap` ends the remaining
 * processes at the next start.
 */
export const createStdioProcesses = (options: StdioProcessesOptions) => {
  const {
    maxMemoryBytes = MAX_MEMORY_BYTES,
    memoryCheckIntervalMs = MEMORY_CHECK_INTERVAL_MS,
    endGraceMs = END_GRACE_MS,
  } = options
  const pidFiles = createPidFiles(options.directory)
  const running = new Map<number, { process: StdioProcess; mark: string; onTooLarge: (bytes: number) => void }>()
  let isClosed = false

  const killAll = (): void => {
    for (const [pid, { mark }] of running) {
      killGroup(pid, 'SIGKILL')
      killMarked(mark)
    }
  }
  process.once('exit', killAll)

  const checkMemory = async (): Promise<void> => {
    for (const [pid, { onTooLarge }] of running) {
      const bytes = await measureMemory(pid)
      if (bytes > maxMemoryBytes && running.has(pid)) onTooLarge(bytes)
    }
  }
  let watch: NodeJS.Timeout | undefined
  const watchMemory = (): void => {
    if (running.size === 0) {
      clearTimeout(watch)
      watch = undefined
    } else if (watch === undefined) {
      watch = setTimeout(() => {
        void checkMemory().finally(() => {
          watch = undefined
          watchMemory()
        })
      }, memoryCheckIntervalMs)
      watch.unref()
    }
  }

  const follow = (child: Child, pid: number, mark: string, removed: () => void): Promise<ProcessEnd> =>
    new Promise(resolve => {
      child.once('exit', (code, signal) => {
        // A group's id is not reused while the group has members, so this cannot kill another process.
        killGroup(pid, 'SIGKILL')
        killMarked(mark)
        running.delete(pid)
        watchMemory()
        removed()
        resolve({ code, signal })
      })
    })

  const createEnd = (child: Child, pid: number, ended: Promise<ProcessEnd>) => {
    let ending: Promise<void> | undefined
    return (): Promise<void> => {
      ending ??= (async () => {
        child.stdin.end()
        killGroup(pid, 'SIGTERM')
        const grace = setTimeout(() => killGroup(pid, 'SIGKILL'), endGraceMs)
        await ended
        clearTimeout(grace)
      })()
      return ending
    }
  }

  return {
    /**
     * Starts a command. Rejects with the system's error (ENOENT, EACCES …). `onTooLarge` is called when the command
     * exceeds its memory limit.
     */
    start: async (
      { command, args, env, cwd }: ProcessCommand,
      onTooLarge: (bytes: number) => void,
    ): Promise<StdioProcess> => {
      if (isClosed) throw new Error('no process can be started after close')
      const mark = randomUUID()
      const entry = pidFiles.add(mark)
      let child: Child
      try {
        child = spawn(command, args, {
          cwd,
          env: { ...options.environment, ...env, [MARK]: mark },
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: true,
          shell: false,
          windowsHide: true,
        })
      } catch (error) {
        entry.removed()
        throw error
      }
      const { pid } = child
      if (pid === undefined) {
        entry.removed()
        return new Promise((_, reject) => child.once('error', reject))
      }
      // Ignore write errors after the process has exited. The exit is reported separately.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
      child.on('error', () => {})
      const ended = follow(child, pid, mark, entry.removed)
      const { stdin, stdout, stderr } = child
      const started: StdioProcess = { pid, stdin, stdout, stderr, ended, end: createEnd(child, pid, ended) }
      running.set(pid, { process: started, mark, onTooLarge })
      entry.started(pid)
      watchMemory()
      return started
    },
    /**
     * Kills the processes that an earlier Patchbay left behind. Returns how many. Call it once, before the first start.
     */
    reap: pidFiles.reap,
    count: (): number => running.size,
    /** Ends all processes. No process can be started afterward. */
    close: async (): Promise<void> => {
      isClosed = true
      await Promise.all([...running.values()].map(({ process: started }) => started.end()))
      process.removeListener('exit', killAll)
    },
  }
}

export type StdioProcesses = ReturnType<typeof createStdioProcesses>
