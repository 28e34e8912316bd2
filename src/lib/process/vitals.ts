import { readdir, readFile, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { LoopDelay } from './loop-delay.ts'
import { type NoticeName, type Notices, WARNING_NAMES } from './notices.ts'

type Part = { used: number; limit: number }

/** Resources that this process uses, and their limits. Undefined where the system does not report them. */
export type Vitals = {
  /** Resident memory in bytes, of PATCHBAY_MEMORY_MB. */
  memory: Part
  /** Open files and sockets. */
  descriptors: Part | undefined
  /** Bytes of the file system that holds the data folder, as far as this user may use them. */
  disk: Part | undefined
  loop: LoopDelay
  /** Records of calls that wait to be written to the history. */
  queuedRecords: number
}

/** Share of the memory from which Patchbay warns. */
const HIGH_MEMORY = 0.9
/** Share of the file descriptors from which Patchbay warns. */
const HIGH_DESCRIPTORS = 0.8
/** Share of the disk from which Patchbay warns, and the free space that is enough on any disk. */
const HIGH_DISK = 0.9
const ENOUGH_DISK_BYTES = 10 * 1_024 ** 3
/** Event loop delay (p99 of a minute or two) from which Patchbay warns: every call waits that long. */
const SLOW_LOOP_MS = 250
/** Waiting records from which Patchbay warns. At 1,000 calls a second, 250 wait. */
const MANY_RECORDS = 20_000

/** Interval of the measurements. */
const INTERVAL_MS = 60_000

const isOver = (part: Part | undefined, share: number): boolean => part !== undefined && part.used > part.limit * share

const MESSAGES = {
  memory_high:
    'Patchbay uses more than 90 % of its memory. Raise PATCHBAY_MEMORY_MB, and the limit of the container if there is one.',
  disk_low: 'The disk of the data folder is more than 90 % full. Free space before changes and the history fail.',
  file_descriptors_low:
    'Patchbay uses more than 80 % of its file descriptors. Raise the limit before connections are refused (ulimit -n, LimitNOFILE in systemd, --ulimit nofile in Docker).',
  event_loop_slow:
    'Calls wait for the processor: 1 % of the event loop’s turns are more than 250 ms late. Give Patchbay faster or more cores, or add replicas.',
  history_behind:
    'More than 20,000 calls wait to be written to the history. When the queue is full, further calls are not recorded. Check the speed of the database.',
} as const satisfies Record<(typeof WARNING_NAMES)[number], string>

/** Returns the warnings that apply. */
export const warningsIn = ({ memory, descriptors, disk, loop, queuedRecords }: Vitals): Set<NoticeName> => {
  const isTrue: Record<(typeof WARNING_NAMES)[number], boolean> = {
    memory_high: isOver(memory, HIGH_MEMORY),
    disk_low: disk !== undefined && isOver(disk, HIGH_DISK) && disk.limit - disk.used < ENOUGH_DISK_BYTES,
    file_descriptors_low: isOver(descriptors, HIGH_DESCRIPTORS),
    event_loop_slow: loop.p99Ms > SLOW_LOOP_MS,
    history_behind: queuedRecords > MANY_RECORDS,
  }
  return new Set(WARNING_NAMES.filter(name => isTrue[name]))
}

const OPEN_FILES = /^Max open files\s+(\d+)/m

/** Reads from /proc on Linux (proc(5)). */
const measureDescriptors = async (): Promise<Part | undefined> => {
  try {
    const [open, limits] = await Promise.all([readdir('/proc/self/fd'), readFile('/proc/self/limits', 'utf8')])
    const limit = OPEN_FILES.exec(limits)?.[1]
    return limit === undefined ? undefined : { used: open.length, limit: Number(limit) }
  } catch {
    return undefined
  }
}

/** Measures the disk of a folder, or of the nearest parent that exists. */
const measureDisk = async (folder: string): Promise<Part | undefined> => {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(folder)
    const used = (blocks - bfree) * bsize
    return { used, limit: used + bavail * bsize }
  } catch {
    const parent = dirname(folder)
    return parent === folder ? undefined : measureDisk(parent)
  }
}

export type VitalsParts = {
  notices: Pick<Notices, 'raise' | 'clear'>
  dataDirectory: string
  memoryMb: number
  loop: { read: () => LoopDelay }
  countQueuedRecords: () => number
}

/** Measures the process every minute, and warns in `notices` before something runs out. */
export const watchVitals = ({ notices, dataDirectory, memoryMb, loop, countQueuedRecords }: VitalsParts) => {
  /** Measures now, and warns or ends warnings. */
  const check = async (): Promise<Vitals> => {
    const [descriptors, disk] = await Promise.all([measureDescriptors(), measureDisk(dataDirectory)])
    const memory = { used: process.memoryUsage.rss(), limit: memoryMb * 1_024 ** 2 }
    const vitals = { memory, descriptors, disk, loop: loop.read(), queuedRecords: countQueuedRecords() }
    const found = warningsIn(vitals)
    for (const name of WARNING_NAMES) {
      if (found.has(name)) notices.raise({ name, level: 'advice', message: MESSAGES[name] })
      else notices.clear(name)
    }
    return vitals
  }
  const timer = setInterval(() => void check(), INTERVAL_MS).unref()
  return { check, close: (): void => clearInterval(timer) }
}
export type VitalsWatch = ReturnType<typeof watchVitals>
