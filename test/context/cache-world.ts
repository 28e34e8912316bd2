import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { answerHolderOf, createAnswerCache } from '../../src/context/index.ts'

export type CacheOptions = Partial<Parameters<typeof createAnswerCache>[0]>

export const MINUTE_MS = 60_000

/** A directory of the test's own, gone with it. */
export const makeDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-answers-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Every file and directory under it, by path. */
export const listUnder = (directory: string): string[] => readdirSync(directory, { recursive: true }).map(String).sort()

/** Caches that read one clock, which the test moves; the first with files in `directory`. */
export const createCacheWorld = (options: CacheOptions = {}) => {
  const clock = { now: Date.parse('2026-11-22T12:00:00Z') }
  const directory = options.directory ?? makeDirectory()
  const warnings: { details: object; message: string }[] = []
  const open = (others: CacheOptions = {}) => {
    const logger = { warn: (details: object, message: string) => void warnings.push({ details, message }) }
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
