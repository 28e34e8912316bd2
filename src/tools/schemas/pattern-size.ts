import { RE2JS } from 're2js'

/** Returns the number of instructions in a pattern's compiled program. */
export type InstructionCounter = (pattern: string) => number

const INSTRUCTIONS_PER_CHARACTER = 4
/** RE2 rejects patterns that repeat a part more often, including nested repetitions. */
const MAX_REPETITIONS = 1_000
const CLASS_FACTOR = 10
const CASE_FACTOR = 100

/**
 * Returns an upper estimate of what compiling a pattern takes, which is at least its number of instructions. Unicode
 * classes and ignoring case add few instructions but take time.
 */
export const estimateInstructions = (pattern: string): number => {
  let length = pattern.length + 1
  let repetitions = 1
  for (const [, group = '', least = '', most = ''] of pattern.matchAll(/(\)?)\{(\d+),?(\d*)\}/g)) {
    const times = Math.max(1, Number(least), Number(most))
    // Only groups contain other repetitions.
    if (group === '') length += times
    else repetitions = Math.min(MAX_REPETITIONS, repetitions * times)
  }
  const factor = (/\\p/i.test(pattern) ? CLASS_FACTOR : 1) * (/\(\?[^:]/.test(pattern) ? CASE_FACTOR : 1)
  return length * INSTRUCTIONS_PER_CHARACTER * repetitions * factor
}

/** Counts exactly, which may take seconds. Returns 1 for an invalid pattern. */
export const countInstructions: InstructionCounter = pattern => {
  try {
    return RE2JS.compile(pattern).programSize()
  } catch {
    return 1
  }
}

/** Maximum sum of the estimates of all patterns that are compiled on the main thread. Takes a few milliseconds. */
const MAX_COMPILED = 10_000

/** Counts exactly until the patterns seen so far would take long to compile, and then returns estimates. */
export const createQuickInstructionCounter = (): InstructionCounter => {
  let left = MAX_COMPILED
  return pattern => {
    const estimate = estimateInstructions(pattern)
    if (estimate > left) return estimate
    left -= estimate
    return countInstructions(pattern)
  }
}
