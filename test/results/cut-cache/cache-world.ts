import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type AnswerCache, createAnswerCache } from '../../../src/results/cut-cache/cut-cache.ts'
import { answerHolderOf } from '../../../src/results/cut-cache/cache-key.ts'

export type CacheOptions = Partial<Parameters<typeof createAnswerCache>[0]>

export const MINUTE_MS = 60_000
export const KIBIBYTE = 1_024

/** A directory of the test's own, gone with it. */
export const makeDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-answers-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Every file under it, by path; directories are left out. */
export const listFiles = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

/** Caches that read one clock, which the test moves, and have files in one directory. */
export const createCacheWorld = (options: CacheOptions = {}) => {
  const clock = { now: Date.parse('2026-11-22T12:00:00Z') }
  const directory = options.directory ?? makeDirectory()
  const warnings: object[] = []
  const logger = { warn: (details: object, message: string) => void warnings.push({ ...details, message }) }
  const open = (others: CacheOptions = {}): AnswerCache => {
    const cache = createAnswerCache({ directory, now: () => clock.now, logger, ...options, ...others })
    onTestFinished(cache.close)
    return cache
  }
  return { clock, directory, warnings, open, cache: open() }
}

export const newHolder = (): string => answerHolderOf({ userId: randomUUID(), via: randomUUID() })

/** Whoever knows the id. */
export const ANYONE = answerHolderOf(undefined)

export const ABOUT = { tool: 'list_orders', mediaType: 'application/json', tokens: 12_000 }

/** Keeps what must be kept. */
export const keep = async (
  cache: AnswerCache,
  serverId: string,
  holder: string,
  content: string | Uint8Array,
): Promise<string> => {
  const cacheId = await cache.keep({ serverId, holder, content, about: ABOUT })
  if (cacheId === undefined) throw new Error('it was not kept')
  return cacheId
}

export const findText = async (
  cache: AnswerCache,
  serverId: string,
  holder: string,
  cacheId: string,
): Promise<string | undefined> => (await cache.find(serverId, holder, cacheId))?.bytes.toString()
