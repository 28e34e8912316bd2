import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { findPidScope, findStartTime, listProcessesWith } from '../../lib/process/proc.ts'

/** Environment variable set for every process. Child processes inherit it, so that all of them can be found. */
export const MARK = 'STARTED_BY_PATCHBAY'

const Identity = z.object({ pid: z.int().positive(), startTime: z.string() })

/** A process that is running or about to start. The entry is written before the start, so that no process is missed. */
const Entry = z.object({
  scope: z.string(),
  mark: z.uuid(),
  owner: Identity,
  process: Identity.optional(),
})
type Entry = z.infer<typeof Entry>

const isRunning = ({ pid, startTime }: z.infer<typeof Identity>): boolean => findStartTime(pid) === startTime

const killQuietly = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process is already gone.
  }
}

/**
 * Kills every process that has this mark in its environment, including those that left the process group. Returns the
 * number of killed processes.
 */
export const killMarked = (mark: string): number => {
  let killed = 0
  // Repeats because a process may have started another; limited because one may not be killable.
  for (let round = 0; round < 5; round++) {
    const pids = listProcessesWith(MARK, mark)
    if (pids.length === 0) break
    if (round === 0) killed = pids.length
    pids.forEach(killQuietly)
  }
  return killed
}

const readEntry = (path: string): Entry | undefined => {
  try {
    return Entry.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

const reapProcess = ({ process: left, mark }: Entry): boolean => {
  const isLeft = left !== undefined && isRunning(left)
  if (isLeft) {
    killQuietly(-left.pid)
    killQuietly(left.pid)
  }
  return killMarked(mark) > 0 || isLeft
}

const sameBoot = (one: string, other: string): boolean => one.split(' ')[0] === other.split(' ')[0]

/**
 * PID files that survive a `kill -9` of Patchbay, so that the next start can kill orphaned processes. Linux only:
 * elsewhere a pid alone does not identify a process safely.
 */
export const createPidFiles = (directory: string) => {
  const scope = findPidScope()
  const startTime = findStartTime(process.pid)

  return {
    /** Records a process that is about to start. Returns functions that record its pid and its end. */
    add: (mark: string) => {
      if (scope === undefined || startTime === undefined) return { started: () => {}, removed: () => {} }
      const path = join(directory, `${mark}.json`)
      const owner = { pid: process.pid, startTime }
      const write = (started?: Entry['process']): void => {
        const entry: Entry = { scope, mark, owner, process: started }
        // Written to another file and renamed, so that nobody reads a partial file.
        writeFileSync(`${path}.new`, JSON.stringify(entry), { mode: 0o600 })
        renameSync(`${path}.new`, path)
      }
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      write()
      return {
        started: (pid: number): void => {
          const startedAt = findStartTime(pid)
          if (startedAt !== undefined) write({ pid, startTime: startedAt })
        },
        removed: (): void => rmSync(path, { force: true }),
      }
    },
    /** Kills processes whose Patchbay process is gone, and returns how many were killed. */
    reap: (): number => {
      if (scope === undefined) return 0
      let files: string[]
      try {
        files = readdirSync(directory).filter(name => name.endsWith('.json'))
      } catch {
        return 0
      }
      const paths = files.map(name => join(directory, name))
      return paths.filter(path => {
        const entry = readEntry(path)
        // Skip entries of other containers and of a Patchbay process that is still running. An unreadable entry, or one
        // from before a reboot, has no process left.
        const isOfScope = entry?.scope === scope
        if (entry !== undefined && !isOfScope && sameBoot(entry.scope, scope)) return false
        if (isOfScope && isRunning(entry.owner)) return false
        const wasLeft = isOfScope && reapProcess(entry)
        rmSync(path, { force: true })
        return wasLeft
      }).length
    },
  }
}
