import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStdioProcesses } from '../upstreams/connection/stdio-processes.ts'
import { codeOf } from './failure-lines.ts'

/** Prefix of a folder name, followed by the id of the process that owns the folder. */
const PREFIX = 'patchbay-config-'
const FOLDER = new RegExp(`^${PREFIX}(\\d+)-`)

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process exists and belongs to another user.
    return codeOf(error) === 'EPERM'
  }
}

/**
 * Returns whether this user created the folder. In a shared temporary folder, anyone could create a folder with such a
 * name, or a link to one of our folders, and make us end any process and delete any file.
 */
const isOwn = async (folder: string): Promise<boolean> => {
  const found = await lstat(folder)
  return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())
}

/**
 * Ends the processes that a killed Patchbay left behind and deletes its folder. Leaves folders of other users alone.
 */
const clearFolder = async (folder: string): Promise<void> => {
  if (!(await isOwn(folder))) return
  const processes = createStdioProcesses({ directory: join(folder, 'processes'), environment: {} })
  processes.reap()
  await processes.close()
  await rm(folder, { recursive: true, force: true })
}

const clearLeftovers = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(FOLDER.exec(name)?.[1])
    if (Number.isNaN(pid) || isRunning(pid)) continue
    await clearFolder(join(tmpdir(), name)).catch(() => {})
  }
}

/** Creates a private folder for serving a file. First deletes the folders that killed processes left behind. */
export const makeTemporaryFolder = async (): Promise<{ folder: string; remove: () => Promise<void> }> => {
  await clearLeftovers()
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}
