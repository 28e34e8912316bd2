import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { cutResultHolderOf } from '../../../src/results/cut-cache/cache-key.ts'
import { type CutCache, type CutCacheOptions, createCutCache } from '../../../src/results/cut-cache/cut-cache.ts'

export const MINUTE_MS = 60_000
export const KIBIBYTE = 1_024

/** Creates caches that share one clock, which the test sets. */
export const createCacheWorld = (options: CutCacheOptions = {}) => {
  const clock = { now: Date.parse('2026-11-22T12:00:00Z') }
  const warnings: object[] = []
  const logger = { warn: (details: object, message: string) => void warnings.push({ ...details, message }) }
  const open = (others: CutCacheOptions = {}): CutCache => {
    const cache = createCutCache({ now: () => clock.now, logger, ...options, ...others })
    onTestFinished(cache.close)
    return cache
  }
  return { clock, warnings, open, cache: open() }
}

export const newHolder = (): string => cutResultHolderOf({ userId: randomUUID(), via: randomUUID() })

/** The holder of the results of anonymous calls. */
export const ANYONE = cutResultHolderOf(undefined)

export const ABOUT = { tool: 'list_orders', mediaType: 'application/json', tokens: 12_000 }

/** Stores a result. Fails the test if the result is not stored. */
export const put = async (
  cache: CutCache,
  serverId: string,
  holder: string,
  content: string | Uint8Array,
): Promise<string> => {
  const cacheId = await cache.put({ serverId, holder, content: Buffer.from(content), about: ABOUT })
  if (cacheId === undefined) throw new Error('the result was not stored')
  return cacheId
}

export const read = async (
  cache: CutCache,
  serverId: string,
  holder: string,
  cacheId: string,
): Promise<Buffer | undefined> => (await cache.open(serverId, holder, cacheId))?.read()

export const readText = async (...args: Parameters<typeof read>): Promise<string | undefined> =>
  (await read(...args))?.toString()
