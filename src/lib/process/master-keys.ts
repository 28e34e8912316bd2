import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateMasterKey } from './sealing.ts'

const KEY_FILE = 'master.key'

/** Whether the string is 32 bytes in Base64. */
export const isMasterKey = (text: string): boolean => /^[A-Za-z0-9+/]{43}=$/.test(text)

/** The master key cannot be read or created; the message says what to do. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason')
const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw new MasterKeyError(
      `${path} cannot be read (${reasonOf(error)}): make it readable for this user, or set PATCHBAY_MASTER_KEY.`,
    )
  }
}

/** Reads the keys in a file. Returns undefined if the file does not exist. */
const readKeys = (path: string): MasterKeys | undefined => {
  const text = readText(path)
  if (text === undefined) return undefined
  const [first, ...rest] = text.split(/[\s,]+/).filter(part => part !== '')
  if (first === undefined || ![first, ...rest].every(isMasterKey)) {
    throw new MasterKeyError(`${path} does not contain a master key: restore the file from your backup.`)
  }
  return [first, ...rest]
}

/** Creates the file atomically and never replaces an existing one, so that concurrent first starts use the same key. */
const writeNewKey = (directory: string, path: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, `${generateMasterKey()}\n`, { mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

export const masterKeyFile = (directory: string): string => join(directory, KEY_FILE)

/** Keys of 32 bytes each, in Base64. The first key seals, and all of them can open. */
export type MasterKeys = readonly [string, ...string[]]

/** Returns the configured master keys, or those in `master.key` in the data directory if it exists. */
export const findMasterKeys = (
  configured: readonly string[] | undefined,
  directory: string,
): MasterKeys | undefined => {
  const [first, ...rest] = configured ?? []
  return first === undefined ? readKeys(masterKeyFile(directory)) : [first, ...rest]
}

/** Creates `master.key` unless it exists, and returns the keys in it. */
export const makeMasterKeys = (directory: string): MasterKeys => {
  const path = masterKeyFile(directory)
  try {
    writeNewKey(directory, path)
  } catch (error) {
    throw new MasterKeyError(
      `${path} cannot be created (${reasonOf(error)}): make its folder writable, or set PATCHBAY_MASTER_KEY.`,
    )
  }
  const made = readKeys(path)
  if (made === undefined) throw new MasterKeyError(`${path} was removed while it was being created.`)
  return made
}
