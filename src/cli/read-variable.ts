import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { readVariable } from '../lib/process/settings.ts'
import type { ConfigVariable } from './config-files/config-text.ts'
import { thisMachine } from './machine.ts'

/** Maximum size of a file that is read for a value, in bytes. */
const MAX_VALUE_FILE_BYTES = 64 * 1_024

/** Resolves a path as configuration files write it: relative to the working folder, with `~` for the user's home. */
export const expandPath = (path: string): string => resolve(path.replace(/^~(?=$|[\\/])/, () => thisMachine().home))

const readValueFile = (path: string): string | undefined => {
  try {
    const file = statSync(path)
    // A pipe or a device has no size and may never end.
    const isReadable = file.isFile() && file.size <= MAX_VALUE_FILE_BYTES
    return isReadable ? readFileSync(path, 'utf8').trim() : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the value that the operator's own file refers to, from the environment or another file. Undefined if there is
 * none.
 */
export const readReferred = ({ source, name }: ConfigVariable): string | undefined => {
  if (source === 'environment') return readVariable(name)
  return source === 'file' ? readValueFile(expandPath(name)) : undefined
}
