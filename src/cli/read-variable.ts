import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ConfigVariable } from '../config-files/index.ts'
import { readVariable } from '../platform/settings.ts'
import { thisMachine } from './machine.ts'

/** Largest file that holds one value. */
const MAX_VALUE_FILE_BYTES = 64 * 1_024

/** A path as configuration files write it: of the user's own folder, or of the one that the command runs in. */
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

/** The value that a file of the operator's own refers to, in the environment or another file; undefined: there is none. */
export const readReferred = ({ source, name }: ConfigVariable): string | undefined => {
  if (source === 'environment') return readVariable(name)
  return source === 'file' ? readValueFile(expandPath(name)) : undefined
}
