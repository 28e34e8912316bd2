import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { OutboundResponse } from '../../lib/outbound/http-client.ts'
import type { Masker } from '../mask/masking.ts'
import { readText } from './shape.ts'

/** How long an answer is kept that a builder looks at: as long as one works on a tool without sending it again. */
const KEPT_MS = 60 * 60 * 1_000
/** Memory for all of them, in characters. */
const MAX_CHARACTERS = 64 * 1_024 * 1_024
const MAX_SAMPLES = 500

/** What an API answered when a tool was tried; secrets masked. */
export type AnswerSample = { text: string; type: string | undefined; userId: string }

/** Answers that builders work on, in this process: where another one is asked, the tool has to be sent again. */
export const createAnswerSamples = () => {
  const kept = new LRUCache<string, AnswerSample>({
    max: MAX_SAMPLES,
    maxSize: MAX_CHARACTERS,
    maxEntrySize: MAX_CHARACTERS / 4,
    sizeCalculation: ({ text }) => text.length + 100,
    ttl: KEPT_MS,
  })
  return {
    /** Under which id it is found again; undefined of what nothing can be made of. */
    keep: (userId: string, response: OutboundResponse | undefined, masker: Masker): string | undefined => {
      if (response === undefined || response.status < 200 || response.status > 299 || response.body.length === 0) {
        return undefined
      }
      const read = readText(response)
      if (read === undefined) return undefined
      const id = randomUUID()
      kept.set(id, { text: masker.text(read.text), type: read.type, userId })
      return id
    },
    find: (userId: string, id: string): AnswerSample | undefined => {
      const sample = kept.get(id)
      return sample?.userId === userId ? sample : undefined
    },
  }
}
