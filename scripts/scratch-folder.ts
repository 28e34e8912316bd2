import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux keeps it in memory. Within a container it is often 64 MB, which is too little. */
const MEMORY = '/dev/shm'
const ROOM_BYTES = 2 * 1024 ** 3

const hasRoom = (): boolean => {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}

/**
 * Makes a folder for databases that nobody needs after the run: in memory where the machine lets us. On a disk, most of
 * what the tests of PostgreSQL took went into the some 300 files of each of their databases.
 */
export const makeScratchFolder = (prefix: string): string => mkdtempSync(join(hasRoom() ? MEMORY : tmpdir(), prefix))
