import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { measureMemory } from '../../lib/process/proc.ts'
import { createProcessLedger, killMarked, MARK } from './process-ledger.ts'

type Child = ChildProcessByStdio<Writable, Readable, Readable>

export type ProcessCommand = {
  command: string
  args: readonly string[]
  /** Added to the environment that every command gets. */
  env: Readonly<Record<string, string>>
  cwd?: string | undefined
}

export type ProcessEnd = { code: number | null; signal: NodeJS.Signals | null }

export type StdioProcess = {
  pid: number
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Once the process is gone, and with it all that it had started. Output may still be under way. */
  ended: Promise<ProcessEnd>
  /** Asks it to end, then makes it: no process is left when this resolves. May be called again. */
  end: () => Promise<void>
}

export type StdioProcessesOptions = {
  /** Where it is written down what runs, beside the database. */
  directory: string
  /** What every command gets of an environment, such as PATH and HOME: nothing else of ours. */
  environment: Readonly<Record<string, string>>
  /** Memory of one process and all under it, in bytes. */
  maxMemoryBytes?: number
  /** Between two looks at the memory. */
  watchEveryMs?: number
  /** How long a process has from SIGTERM to SIGKILL. */
  endGraceMs?: number
}

/** Far above what a server that only translates needs, low enough that a few of them cannot take the machine. */
const MAX_MEMORY_BYTES = 1_024 * 1_024 * 1_024
const WATCH_EVERY_MS = 2_000
/** As the specification's shutdown of stdio has it: stdin closed, a while, SIGTERM, a while, SIGKILL; both at once here. */
const END_GRACE_MS = 2_000

const killGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody is left in it.
  }
}

/**
 * Starts the commands of stdio upstreams and answers for them: each is the leader of a process group of its own, without
 * a shell, and no process of it is left after `end`, after `close`, or when Patchbay itself ends. What a `kill -9` of
 * Patchbay leaves behind, the next start ends with `reap`.
 */
export const createStdioProcesses = (options: StdioProcessesOptions) => {
  const { maxMemoryBytes = MAX_MEMORY_BYTES, watchEveryMs = WATCH_EVERY_MS, endGraceMs = END_GRACE_MS } = options
  const ledger = createProcessLedger(options.directory)
  const running = new Map<number, { process: StdioProcess; mark: string; onTooLarge: (bytes: number) => void }>()
  let isClosed = false

  const endAllAtOnce = (): void => {
    for (const [pid, { mark }] of running) {
      killGroup(pid, 'SIGKILL')
      killMarked(mark)
    }
  }
  process.once('exit', endAllAtOnce)

  const lookAtMemory = async (): Promise<void> => {
    for (const [pid, { onTooLarge }] of running) {
      const bytes = await measureMemory(pid)
      if (bytes > maxMemoryBytes && running.has(pid)) onTooLarge(bytes)
    }
  }
  let watch: NodeJS.Timeout | undefined
  const watchWhileAnyRuns = (): void => {
    if (running.size === 0) {
      clearTimeout(watch)
      watch = undefined
    } else if (watch === undefined) {
      watch = setTimeout(() => {
        void lookAtMemory().finally(() => {
          watch = undefined
          watchWhileAnyRuns()
        })
      }, watchEveryMs)
      watch.unref()
    }
  }

  const follow = (child: Child, pid: number, mark: string, gone: () => void): Promise<ProcessEnd> =>
    new Promise(resolve => {
      child.once('exit', (code, signal) => {
        // Its group's number is taken for as long as anyone is in it: this reaches nobody else.
        killGroup(pid, 'SIGKILL')
        killMarked(mark)
        running.delete(pid)
        watchWhileAnyRuns()
        gone()
        resolve({ code, signal })
      })
    })

  const endingOf = (child: Child, pid: number, ended: Promise<ProcessEnd>) => {
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
     * Starts a command; resolves once it runs. Rejects with the error of the system (ENOENT, EACCES …) when it does not.
     * `onTooLarge` is told when it takes more memory than it may.
     */
    start: async (
      { command, args, env, cwd }: ProcessCommand,
      onTooLarge: (bytes: number) => void,
    ): Promise<StdioProcess> => {
      if (isClosed) throw new Error('no process is started any more')
      const mark = randomUUID()
      const entry = ledger.enter(mark)
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
        entry.gone()
        throw error
      }
      const { pid } = child
      if (pid === undefined) {
        entry.gone()
        return new Promise((_, reject) => child.once('error', reject))
      }
      // A write to a process that is gone: its end is told by itself.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
      child.on('error', () => {})
      const ended = follow(child, pid, mark, entry.gone)
      const { stdin, stdout, stderr } = child
      const started: StdioProcess = { pid, stdin, stdout, stderr, ended, end: endingOf(child, pid, ended) }
      running.set(pid, { process: started, mark, onTooLarge })
      entry.started(pid)
      watchWhileAnyRuns()
      return started
    },
    /** Ends what an earlier Patchbay left behind; once, before the first start. Answers how many processes that were. */
    reap: (): number => ledger.reap(),
    /** How many run. */
    count: (): number => running.size,
    /** Ends them all; nothing is started afterwards. */
    close: async (): Promise<void> => {
      isClosed = true
      await Promise.all([...running.values()].map(({ process: started }) => started.end()))
      process.removeListener('exit', endAllAtOnce)
    },
  }
}

export type StdioProcesses = ReturnType<typeof createStdioProcesses>
