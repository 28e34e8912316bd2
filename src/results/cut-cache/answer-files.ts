import { hash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findPidScope, findStartTime } from '../../lib/process/proc.ts'
import { ABANDONED_AFTER_MS } from './cache-limits.ts'

/** Only the owner may look in, and read. */
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

/** Scope of the pid, pid, start time, and what makes it this one. What is named otherwise is not ours to remove. */
const OWN_DIRECTORY = /^([0-9a-f]{16}|none)-(\d+)-(\d+)-[0-9a-f-]{36}$/
const SCOPE_CHARS = 16

const scopeName = (): string => {
  const scope = findPidScope()
  return scope === undefined ? 'none' : hash('sha256', scope).slice(0, SCOPE_CHARS)
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

/**
 * The files of one process, in a directory of its own under `directory`, which is made with the first of them. Its name
 * says whose it is, so that others can tell when that process is gone. `now`: milliseconds since 1970.
 */
export const createAnswerFiles = (directory: string, now: () => number) => {
  const scope = scopeName()
  const ownName = `${scope}-${process.pid}-${findStartTime(process.pid) ?? 0}-${randomUUID()}`
  const own = join(directory, ownName)
  let isMade = false
  /** None of them rejects. */
  const underWay = new Set<Promise<void>>()

  const makeDirectory = async (): Promise<void> => {
    await mkdir(own, { recursive: true, mode: DIRECTORY_MODE })
    isMade = true
  }

  /** Where a pid says something, the process says it; elsewhere, another container or system, only time does. */
  const isLeftOver = async (name: string): Promise<boolean> => {
    const [, itsScope, pid, startTime] = OWN_DIRECTORY.exec(name) ?? []
    if (itsScope === undefined || name === ownName) return false
    if (itsScope === scope && scope !== 'none') return findStartTime(Number(pid)) !== startTime
    const { mtimeMs } = await stat(join(directory, name))
    return now() - mtimeMs > ABANDONED_AFTER_MS
  }

  const removeQuietly = (path: string): Promise<void> => rm(path, { recursive: true, force: true }).catch(() => {})

  const writeNew = async (name: string, content: Buffer): Promise<void> => {
    try {
      await writeFile(join(own, name), content, { mode: FILE_MODE, flag: 'wx' })
    } catch (error) {
      await removeQuietly(join(own, name))
      throw error
    }
  }

  const write = async (name: string, content: Buffer): Promise<void> => {
    if (!isMade) await makeDirectory()
    try {
      await writeNew(name, content)
    } catch (error) {
      if (!isMissing(error)) throw error
      // Somebody has cleared the directory away; what was in it is found to be lost when it is asked for.
      await makeDirectory()
      await writeNew(name, content)
    }
  }

  const tidy = async (): Promise<void> => {
    const at = new Date(now())
    if (isMade) await utimes(own, at, at).catch(() => {})
    for (const name of await readdir(directory).catch(() => [])) {
      if (await isLeftOver(name).catch(() => false)) await removeQuietly(join(directory, name))
    }
  }

  const during = <T>(work: Promise<T>): Promise<T> => {
    const settled = work.then(
      () => {},
      () => {},
    )
    underWay.add(settled)
    void settled.then(() => underWay.delete(settled))
    return work
  }

  return {
    /** Of a file to be written: nothing about the answer can be told from it. */
    newName: (): string => randomUUID(),
    /** Throws what the file system says; then nothing is left of it. */
    write: (name: string, content: Buffer): Promise<void> => during(write(name, content)),
    /** undefined: it cannot be read, or is not what was written. */
    read: async (name: string, bytes: number): Promise<Buffer | undefined> => {
      const content = await readFile(join(own, name)).catch(() => undefined)
      return content?.length === bytes ? content : undefined
    },
    /** In the background: what cannot be removed now goes with the directory. */
    remove: (name: string): void => {
      void during(removeQuietly(join(own, name)))
    },
    /** Says that this process lives, and removes what is left of those that do not. */
    tidy: (): Promise<void> => during(tidy()),
    /** Removes all that this process wrote. */
    close: async (): Promise<void> => {
      while (underWay.size > 0) await Promise.all(underWay)
      if (!isMade) return
      await removeQuietly(own)
      // Others' may be in it.
      await rmdir(directory).catch(() => {})
    },
  }
}
