import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { z } from 'zod'

/** V8 collects buffers only after 64 MiB of them. With less memory than this, in MiB, that is too late. */
const ENOUGH_MEMORY_MB = 512

/**
 * Returns a function that frees the buffers that nobody refers to, which takes some 20 ms. Returns undefined if there is
 * enough memory without it.
 */
export const createGarbageCollector = (totalMb: number): (() => void) | undefined => {
  if (totalMb >= ENOUGH_MEMORY_MB) return undefined
  // The function exists only in contexts that are created while the flag is set.
  setFlagsFromString('--expose-gc')
  const collect = z.function({ input: [], output: z.unknown() }).implement(runInNewContext('gc'))
  setFlagsFromString('--no-expose-gc')
  return () => void collect()
}
