import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { isSuccess, type OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import type { Masker } from '../mask/masking.ts'
import { decodeText } from './shape.ts'

/** How long a sample is stored. Long enough for a builder to edit a tool without calling it again. */
const KEPT_MS = 60 * 60 * 1_000
const MAX_SAMPLES = 500

/** An API response received while a builder tried a tool, with secrets masked. */
export type ResponseSample = { text: string; type: string | undefined; userId: string }

/**
 * Creates the sample store. Each process has its own, so a builder whose request reaches another replica must call the
 * tool again. `maxBytes` is the memory for all samples together.
 */
export const createResponseSamples = (maxBytes: number) => {
  const kept = new LRUCache<string, ResponseSample>({
    max: MAX_SAMPLES,
    maxSize: maxBytes,
    maxEntrySize: maxBytes / 4,
    sizeCalculation: ({ text }) => text.length + 100,
    ttl: KEPT_MS,
  })
  return {
    /** Stores a response and returns its ID. Returns undefined if the response is an error, empty, too large, or not text. */
    keep: async (
      userId: string,
      response: OutboundResponse | undefined,
      masker: Masker,
      signal: StopSignal,
    ): Promise<string | undefined> => {
      if (response === undefined || !isSuccess(response) || response.body.length === 0) return undefined
      const read = decodeText(response)
      if (read === undefined) return undefined
      const id = randomUUID()
      kept.set(id, { text: await masker.long.text(read.text, signal), type: read.type, userId })
      return kept.has(id) ? id : undefined
    },
    find: (userId: string, id: string): ResponseSample | undefined => {
      const sample = kept.get(id)
      return sample?.userId === userId ? sample : undefined
    },
  }
}
