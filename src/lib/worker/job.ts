import type { MessagePort } from 'node:worker_threads'
import type { Result } from '../kernel/result.ts'
import type { StopSignal } from '../kernel/stop-signal.ts'
import type { Tenant } from './fair-queue.ts'

/**
 * Sends a part of the output to the caller while the job goes on. Waits until the caller has handled the previous part,
 * so that parts do not pile up. A part is text, because the caller must parse what an isolated process sends anyway.
 */
export type SendPart = (part: string) => Promise<void>

/** A function that runs outside the main thread. It is found by its name in a table of definitions. */
export type JobDefinition<Input, Output> = {
  /** Loads the function, once per thread or process. */
  load: () => Promise<(input: Input, sendPart: SendPart) => Promise<Output> | Output>
  timeLimitMs: number
  /**
   * Runs the job in a process of its own with this heap limit, for untrusted input. A thread that runs out of memory
   * inside V8, for example because of one long string, ends the whole process.
   */
  ownProcess?: { heapLimitMb: number }
}

// The pool does not inspect inputs and outputs. `never` accepts functions with any input type.
export type JobTable = Readonly<Record<string, JobDefinition<never, unknown>>>

/** The reason why a job has no output. `not_started` means that its turn did not come in time. */
export type JobEnding = 'queue_full' | 'not_started' | 'aborted' | 'time' | 'memory' | 'closed'

export type JobOptions = Partial<Pick<Tenant, 'group'>> & {
  signal?: StopSignal | undefined
  /** Jobs with the same affinity run in the same thread if it is free, because that thread has cached data for them. */
  affinity?: string | undefined
  /**
   * Handles the parts that the job sends, one at a time. All have been handled when the job ends. If it throws, the job
   * ends and rejects with the error. A job that runs again for lack of memory sends its parts again from the first.
   */
  onPart?: ((part: string) => Promise<void> | void) | undefined
}

/** A job as its callers see it. */
export type Job<Input, Output> = {
  timeLimitMs: number
  heapLimitMb: number
  /** Runs the job. Rejects only for unexpected errors. Without a group, the owner forms its own group. */
  run: (owner: string, input: Input, options?: JobOptions) => Promise<Result<Output, JobEnding>>
}

/** The request to a pool thread. The main thread decides the limits. */
export type JobRequest = {
  name: string
  input: unknown
  timeLimitMs: number
  /** `isKept`: whether the process stays for further jobs. */
  ownProcess: { heapLimitMb: number; isKept: boolean } | undefined
  /** Where the parts of the output go. Undefined if the caller wants none. */
  parts: MessagePort | undefined
}

/** The reply: the output, or the reason why there is none. */
export type JobReply<Output = unknown> =
  | { output: Output }
  | { ended: Extract<JobEnding, 'time' | 'memory' | 'closed'> }
