import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { JobReply, JobRequest } from './job.ts'

/** The exit code of a process whose thread ran out of memory. */
export const OUT_OF_MEMORY_EXIT = 70

/**
 * The process may read files, to load its modules, and may start a thread. It may not write files, open connections or
 * start processes.
 */
const PERMISSIONS = ['--permission', '--allow-fs-read=*', '--allow-worker', '--disable-warning=SecurityWarning']

/** Messages to the process: the name of the job to load, followed by its inputs, and that a part was handled. */
export type ProcessRequest = { load: string } | { name: string; input: never } | { handled: true }

/** Ends a step of a job. `failure` is a description for the log. */
type Settlement = { ready: true } | { output: unknown } | { failure: string }

/** Messages from the process: one when it has loaded a job, and for each input its parts and one settlement. */
export type ProcessMessage = Settlement | { part: string }

type ProcessJob = Pick<JobRequest, 'name' | 'timeLimitMs' | 'parts'> & { input: never }

type Exit = { exit: number | null; signal: string | null }

/**
 * Has Linux end this process, whose job then fails, before any other when the machine or the container runs out of
 * memory. Does nothing on other systems.
 */
const sacrifice = ({ pid }: ChildProcess): void => {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  } catch {
    // The process may have ended, or the system has no such file.
  }
}

/** A signal means that V8 aborted for lack of memory, or that the system killed the process for the same reason. */
const isOutOfMemory = ({ exit, signal }: Exit): boolean => signal !== null || exit === OUT_OF_MEMORY_EXIT

/**
 * Runs named jobs in a process of its own, one call at a time. The process starts with the first call and ends with the
 * thread that started it. If the process has ended, the next call starts a new one. `file` is the module that calls
 * `serveJobs`.
 */
export const createIsolatedProcess = (file: string, heapLimitMb: number) => {
  let child: ChildProcess | undefined
  /** Names of the jobs that the process has loaded. */
  const loaded = new Set<string>()
  let settle: ((outcome: Settlement | Exit) => void) | undefined
  let forward: ((part: string) => void) | undefined

  const receive = (): Promise<Settlement | Exit> =>
    new Promise(resolve => {
      settle = resolve
    })

  const start = (): ChildProcess => {
    const started = fork(file, [String(heapLimitMb)], {
      env: {},
      execArgv: PERMISSIONS,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    loaded.clear()
    sacrifice(started)
    started.on('message', (message: ProcessMessage) => {
      if ('part' in message) forward?.(message.part)
      else settle?.(message)
    })
    started.on('error', error => settle?.({ failure: String(error) }))
    started.on('exit', (exit, signal) => {
      if (child !== started) return
      child = undefined
      settle?.({ exit, signal })
    })
    return started
  }

  const toReply = (name: string, outcome: Settlement | Exit): JobReply => {
    if ('output' in outcome) return outcome
    if ('failure' in outcome) throw new Error(outcome.failure)
    if ('exit' in outcome && isOutOfMemory(outcome)) return { ended: 'memory' }
    throw new Error(`the process of the job ${name} ended unexpectedly`)
  }

  // If a message can no longer be sent, the `exit` event reports the failure.
  const send = (process: ChildProcess, message: ProcessRequest): void => void process.send(message, () => undefined)

  const runOnce = async ({ name, input, timeLimitMs, parts }: ProcessJob): Promise<JobReply> => {
    child ??= start()
    const running = child
    if (!loaded.has(name)) {
      const loading = receive()
      send(running, { load: name })
      const first = await loading
      if (!('ready' in first)) return toReply(name, first)
      loaded.add(name)
    }
    const outcome = receive()
    const acknowledge = (): void => send(running, { handled: true })
    forward = parts === undefined ? acknowledge : part => parts.postMessage(part)
    parts?.on('message', acknowledge)
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      running.kill('SIGKILL')
    }, timeLimitMs)
    send(running, { name, input })
    const received = await outcome
    clearTimeout(timer)
    parts?.off('message', acknowledge)
    return isLate && 'exit' in received ? { ended: 'time' } : toReply(name, received)
  }

  return {
    /** Runs a job. If it lacks memory in a process that has caches of others, it runs again in a new process. */
    run: async (job: ProcessJob): Promise<JobReply> => {
      const isUsed = child !== undefined
      const reply = await runOnce(job)
      return isUsed && 'ended' in reply && reply.ended === 'memory' ? runOnce(job) : reply
    },
    /** Ends the idle process, to free its memory. */
    end: (): void => {
      child?.kill('SIGKILL')
      child = undefined
    },
  }
}

export type IsolatedProcess = ReturnType<typeof createIsolatedProcess>
