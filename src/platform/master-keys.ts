import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateMasterKey } from './sealing.ts'

const KEY_FILE = 'master.key'

/** Why no master key could be had; the message says what to do. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
const isThere = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST'

const readKeys = (path: string): [string, ...string[]] | undefined => {
  try {
    const [first, ...rest] = readFileSync(path, 'utf8')
      .split(/[\s,]+/)
      .filter(line => line !== '')
    if (first === undefined || [first, ...rest].some(key => Buffer.from(key, 'base64').length !== 32)) {
      throw new MasterKeyError(`${path} holds no master key: put the file back from your backup.`)
    }
    return [first, ...rest]
  } catch (error) {
    if (isMissing(error)) return undefined
    if (error instanceof MasterKeyError) throw error
    throw new MasterKeyError(`${path} cannot be read: ${error instanceof Error ? error.message : 'unknown reason'}`)
  }
}

/** Appears whole or not at all, and never over another: two first starts at once agree on one key. */
const writeNewKey = (directory: string, path: string): void => {
  mkdirSync(directory, { recursive: true })
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

/**
 * The master keys: those of the setting, else those of `master.key` in the data directory, which the first start makes.
 * Throws MasterKeyError.
 */
export const loadMasterKeys = (
  configured: readonly string[] | undefined,
  directory: string,
): readonly [string, ...string[]] => {
  const [first, ...rest] = configured ?? []
  if (first !== undefined) return [first, ...rest]
  const path = join(directory, KEY_FILE)
  const kept = readKeys(path)
  if (kept !== undefined) return kept
  try {
    writeNewKey(directory, path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason'
    throw new MasterKeyError(
      `${path} cannot be made (${reason}): make its folder writable, or set PATCHBAY_MASTER_KEY.`,
    )
  }
  const made = readKeys(path)
  if (made === undefined) throw new MasterKeyError(`${path} vanished while it was made.`)
  return made
}
