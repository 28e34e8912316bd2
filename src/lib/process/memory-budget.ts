import { availableParallelism, totalmem } from 'node:os'

const MEBIBYTE = 1_024 * 1_024

/** The least memory that Patchbay runs in. */
export const MIN_MEMORY_MB = 256
/** With less, in MiB, what is not in use is freed at once, although that takes time. */
export const ENOUGH_MEMORY_MB = 512
/** Share of a machine's memory that Patchbay uses if neither a setting nor a container limits it. */
const SHARE_OF_MACHINE = 1 / 4

/** Code, libraries, the database and pages, in MiB, after a day of calls. */
export const PROGRAM_MB = 128
/**
 * Memory outside the heaps of a thread and the process that it supervises, in MiB: 10 for the thread, 45 for the
 * process.
 */
export const SLOT_OVERHEAD_MB = 55
/** Preferred size of a thread with its process, in MiB: enough to inspect 10 MB of typical JSON. */
const SLOT_MB = 310
/**
 * Minimum number of threads if there is memory for them, even with fewer cores: most only wait for a process, and one
 * slow job must not block all others.
 */
const USUAL_SLOTS = 4
/** The largest heap of a thread, in MiB. The largest catalogue needs as much memory as the tokenizer. */
const THREAD_HEAP_MB = 256
/** The heap of a thread grows from the smallest by this share of what its slot has beyond the minimum. */
const THREAD_SHARE = 1 / 4
/** The smallest heap of a thread or process, in MiB: the tokenizer needs half of it. */
const MIN_HEAP_MB = 80
/** The smallest thread with its process, in MiB. */
const MIN_SLOT_MB = 2 * MIN_HEAP_MB + SLOT_OVERHEAD_MB
/** The largest heap of a process, in MiB. Two parsed results of the maximum size fit into it. */
const PROCESS_HEAP_MB = 1_024

/** A part of the memory in MiB: what it gets of 256 MiB, its share of all memory beyond that, and the most it uses. */
type Part = { least: number; share: number; most: number }

const PARTS = {
  /** Responses of APIs in calls in progress. They count twice, because a response is also written to the client. */
  inFlight: { least: 16, share: 1 / 8, most: 512 },
  cutResults: { least: 4, share: 1 / 24, most: 64 },
  cachedResponses: { least: 4, share: 1 / 24, most: 64 },
  /** Records that wait for the history. */
  records: { least: 4, share: 1 / 24, most: 64 },
  /** Responses that the tool editor keeps as samples. */
  samples: { least: 2, share: 1 / 48, most: 64 },
  embeddings: { least: 4, share: 1 / 12, most: 128 },
} satisfies Readonly<Record<string, Part>>

export const COPIES_IN_FLIGHT = 2

/** The most that a setting may give to cut results, as a share of what the program leaves. */
const CUT_RESULTS_SHARE = 1 / 4

const partOf = ({ least, share, most }: Part, totalMb: number): number =>
  Math.min(most, Math.floor(least + (totalMb - MIN_MEMORY_MB) * share))

/** Returns the most memory that a setting may give to cut results, in MiB. */
export const maxCutResultsMb = (totalMb: number): number =>
  Math.max(partOf(PARTS.cutResults, totalMb), Math.floor((totalMb - PROGRAM_MB) * CUT_RESULTS_SHARE))

/** Divides the memory into parts. `cutResultsMb` overrides one of them. `cores` is the number of processors. */
export const shareMemory = (totalMb: number, cutResultsMb?: number, cores: number = availableParallelism()) => {
  const mb = (name: keyof typeof PARTS): number =>
    name === 'cutResults' && cutResultsMb !== undefined ? cutResultsMb : partOf(PARTS[name], totalMb)
  const caches = mb('cutResults') + mb('cachedResponses') + mb('records') + mb('samples') + mb('embeddings')
  const forJobs = totalMb - PROGRAM_MB - caches - mb('inFlight') * COPIES_IN_FLIGHT
  const isEnoughForTwo = forJobs >= 2 * MIN_SLOT_MB
  const slots = Math.max(isEnoughForTwo ? 2 : 1, Math.floor(forJobs / SLOT_MB))
  const maxThreads = Math.min(slots, Math.max(USUAL_SLOTS, cores))
  const slotMb = Math.max(MIN_SLOT_MB, Math.floor(forJobs / maxThreads))
  const threadHeapMb = Math.min(THREAD_HEAP_MB, MIN_HEAP_MB + Math.floor((slotMb - MIN_SLOT_MB) * THREAD_SHARE))
  return {
    totalMb,
    /** Threads of the worker pool, each of which may supervise one process. */
    maxThreads,
    /** Whether the processes are kept for further jobs. One without a job takes about 75 MiB. */
    keepsProcesses: totalMb >= ENOUGH_MEMORY_MB,
    threadHeapMb,
    processHeapMb: Math.min(PROCESS_HEAP_MB, slotMb - SLOT_OVERHEAD_MB - threadHeapMb),
    inFlightBytes: mb('inFlight') * MEBIBYTE,
    cutResultBytes: mb('cutResults') * MEBIBYTE,
    cachedResponseBytes: mb('cachedResponses') * MEBIBYTE,
    recordBytes: mb('records') * MEBIBYTE,
    sampleBytes: mb('samples') * MEBIBYTE,
    embeddingBytes: mb('embeddings') * MEBIBYTE,
  }
}

export type MemoryBudget = Readonly<ReturnType<typeof shareMemory>>

/**
 * Returns the memory that this process may use, in MiB: the limit of its container, or a quarter of the machine's. May
 * be less than `MIN_MEMORY_MB` only in a container.
 */
export const findMemoryMb = (
  constrained: number = process.constrainedMemory(),
  machine: number = totalmem(),
): number => {
  // Without a limit, this is 0 or a number larger than any memory.
  const isConstrained = constrained > 0 && constrained < machine
  return isConstrained
    ? Math.floor(constrained / MEBIBYTE)
    : Math.max(MIN_MEMORY_MB, Math.floor((machine * SHARE_OF_MACHINE) / MEBIBYTE))
}
