import { createHash } from 'node:crypto'
import { createNewestEntries } from '../process/newest-entries.ts'

/** Numbers that are remembered, of some 100 bytes each: the tools of ten of the largest servers. */
const MAX_REMEMBERED = 20_000

const keyOf = (text: string): string => createHash('sha1').update(text).digest('base64')

/** The tokens of texts that were counted before. */
export const createKnownTokens = () => {
  const known = createNewestEntries<number>(MAX_REMEMBERED)
  return {
    /** `remember`: to be told when they are counted. */
    find: (text: string): { tokens: number | undefined; remember: (tokens: number) => void } => {
      const key = keyOf(text)
      return { tokens: known.get(key), remember: tokens => known.set(key, tokens) }
    },
  }
}
