import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateMasterKey } from './sealing.ts'

const KEY_FILE = 'master.key'

/** Whether the text is base64 of 32 bytes. */
export const isMasterKey = (text: string): boolean => /^[A-Za-z0-9+/]{43}=$/.test(text)

/** Why no master key could be had; the message says what to do. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason')
const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
const isThere = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST'

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new MasterKeyError(
      `${path} cannot be read (${reasonOf(error)}): see that this user may, or set PATCHBAY_MASTER_KEY.`,
    )
  }
}

/** Undefined when the file is not there. */
const readKeys = (path: string): MasterKeys | undefined => {
  const text = readText(path)
  if (text === undefined) return undefined
  const [first, ...rest] = text.split(/[\s,]+/).filter(part => part !== '')
  if (first === undefined || ![first, ...rest].every(isMasterKey)) {
    throw new MasterKeyError(`${path} holds no master key: put the file back from your backup.`)
  }
  return [first, ...rest]
}

/** Appears whole or not at all, and never over another: two first starts at once agree on one key. */
const writeNewKey = (directory: string, path: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, `${generateMasterKey()}\n`, { mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!isThere(error)) throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

export const masterKeyFile = (directory: string): string => join(directory, KEY_FILE)

/** Base64 of 32 bytes each; the first seals, all open. */
export type MasterKeys = readonly [string, ...string[]]

/** The master keys: those of the setting, else those of `master.key` in the data directory, if it is there. */
export const findMasterKeys = (
  configured: readonly string[] | undefined,
  directory: string,
): MasterKeys | undefined => {
  const [first, ...rest] = configured ?? []
  return first === undefined ? readKeys(masterKeyFile(directory)) : [first, ...rest]
}

/** Makes `master.key`, unless it is there by now. */
export const makeMasterKeys = (directory: string): MasterKeys => {
  const path = masterKeyFile(directory)
  try {
    writeNewKey(directory, path)
  } catch (error) {
    throw new MasterKeyError(
      `${path} cannot be made (${reasonOf(error)}): make its folder writable, or set PATCHBAY_MASTER_KEY.`,
    )
  }
  const made = readKeys(path)
  if (made === undefined) throw new MasterKeyError(`${path} vanished while it was made.`)
  return made
}
