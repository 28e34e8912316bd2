import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder in memory on Linux. Containers often limit it to 64 MB, which is too little. */
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
 * Creates a temporary folder for databases, in memory if possible. On a disk, creating the roughly 300 files of each
 * database took up most of the time of the PostgreSQL tests.
 */
export const makeScratchFolder = (prefix: string): string => mkdtempSync(join(hasRoom() ? MEMORY : tmpdir(), prefix))
