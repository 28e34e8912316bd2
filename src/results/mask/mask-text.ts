import { MASK } from '../../lib/kernel/mask.ts'
import type { Range } from './find-secrets.ts'

/** Replaces each range of a text by the mask. */
export const maskText = (text: string, ranges: readonly Range[]): string => {
  if (ranges.length === 0) return text
  const starts = [0, ...ranges.map(([, end]) => end)]
  return starts.map((start, index) => text.slice(start, ranges[index]?.[0])).join(MASK)
}
