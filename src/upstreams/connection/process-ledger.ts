import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { findPidScope, findStartTime, listProcessesWith } from '../../lib/process/proc.ts'

/** In the environment of every process: what it starts inherits it, and is known by it. */
export const MARK = 'STARTED_BY_PATCHBAY'

const Identity = z.object({ pid: z.int().positive(), startTime: z.string() })

/** One process that runs, or may: written before it is started, so that none is ever missing. */
const Entry = z.object({
  scope: z.string(),
  mark: z.uuid(),
  owner: Identity,
  process: Identity.optional(),
})
type Entry = z.infer<typeof Entry>

const lives = ({ pid, startTime }: z.infer<typeof Identity>): boolean => findStartTime(pid) === startTime

const killQuietly = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}

/** Ends at once all that carries the mark: what has left its process group, too. Answers how many those were. */
export const killMarked = (mark: string): number => {
  let killed = 0
  // Again, since one may have started another meanwhile; one that cannot be ended must not hold us up.
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
  const isLeft = left !== undefined && lives(left)
  if (isLeft) {
    killQuietly(-left.pid)
    killQuietly(left.pid)
  }
  return killMarked(mark) > 0 || isLeft
}

const sameBoot = (one: string, other: string): boolean => one.split(' ')[0] === other.split(' ')[0]

/**
 * Files, one a process, that outlive a `kill -9` of Patchbay, so that the next start ends what that one had started. On
 * Linux; elsewhere nothing is kept, for there a pid alone would say too little.
 */
export const createProcessLedger = (directory: string) => {
  const scope = findPidScope()
  const owner = { pid: process.pid, startTime: findStartTime(process.pid) }
  const { startTime: ownStart } = owner

  return {
    /** Enters a process that is about to start; answers how to say which it is, and that it is gone. */
    enter: (mark: string) => {
      if (scope === undefined || ownStart === undefined) return { started: () => {}, gone: () => {} }
      const path = join(directory, `${mark}.json`)
      const write = (started?: Entry['process']): void => {
        const entry: Entry = { scope, mark, owner: { pid: owner.pid, startTime: ownStart }, process: started }
        // In one go: whoever reads it meanwhile would take half of it for nothing.
        writeFileSync(`${path}.new`, JSON.stringify(entry), { mode: 0o600 })
        renameSync(`${path}.new`, path)
      }
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      write()
      return {
        started: (pid: number): void => {
          const startTime = findStartTime(pid)
          if (startTime !== undefined) write({ pid, startTime })
        },
        gone: (): void => rmSync(path, { force: true }),
      }
    },
    /** Ends the processes whose Patchbay is gone; answers how many there were. */
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
        // Another container's, or one that lives: its own matter. Half written or of an earlier run: nothing is left.
        if (entry !== undefined && entry.scope !== scope && sameBoot(entry.scope, scope)) return false
        if (entry !== undefined && entry.scope === scope && lives(entry.owner)) return false
        const wasLeft = entry !== undefined && entry.scope === scope && reapProcess(entry)
        rmSync(path, { force: true })
        return wasLeft
      }).length
    },
  }
}
