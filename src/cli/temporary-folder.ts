import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStdioProcesses } from '../upstreams/index.ts'

/** In front of the id of the process that the folder is of. */
const PREFIX = 'patchbay-config-'
const FOLDER = new RegExp(`^${PREFIX}(\\d+)-`)

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // There is one, of another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/**
 * Whether this user made it. In a folder that all may write to, anybody may put one of that name there, or a link to a
 * folder of ours: what it says would have us end any process, and remove any file.
 */
const isOwn = async (folder: string): Promise<boolean> => {
  const found = await lstat(folder)
  return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())
}

/** Ends what a process that was killed had started, and takes its folder away. One of another user is not ours to touch. */
const clearFolder = async (folder: string): Promise<void> => {
  if (!(await isOwn(folder))) return
  const processes = createStdioProcesses({ directory: join(folder, 'processes'), environment: {} })
  processes.reap()
  await processes.close()
  await rm(folder, { recursive: true, force: true })
}

const clearLeft = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(FOLDER.exec(name)?.[1])
    if (Number.isNaN(pid) || isRunning(pid)) continue
    await clearFolder(join(tmpdir(), name)).catch(() => {})
  }
}

/** A folder for as long as this process serves a file, for its own user alone; those that were left behind go first. */
export const makeTemporaryFolder = async (): Promise<{ folder: string; remove: () => Promise<void> }> => {
  await clearLeft()
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}
