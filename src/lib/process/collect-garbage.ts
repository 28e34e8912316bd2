import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ENOUGH_MEMORY_MB } from './memory-budget.ts'

/**
 * Returns a function that collects all garbage now, which takes about 20 ms, or undefined if there is enough memory. By
 * itself, V8 collects buffers only when there are 64 MiB of them.
 */
export const createGarbageCollector = (totalMb: number): (() => void) | undefined => {
  if (totalMb >= ENOUGH_MEMORY_MB) return undefined
  // The function exists only in contexts that are created while the flag is set.
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return collect
}
