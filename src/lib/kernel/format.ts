import { MINUTE_MS } from './durations.ts'

const NUMBER = new Intl.NumberFormat('en')
const ROUGHLY = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** Formats `1204` as `1,204`. */
export const formatNumber = (count: number): string => NUMBER.format(count)

/** Formats a count with its noun: `1 tool`, `1,204 tools`. Pass `many` for an irregular plural. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`

/** Truncates text that exceeds the limit. The ellipsis counts toward the limit. */
export const shorten = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1).toWellFormed()}…`

/** Formats a duration: `146 ms`, `2.4 s`, `3 min`. */
export const formatDuration = (durationMs: number): string => {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`
  if (durationMs < MINUTE_MS) return `${ROUGHLY.format(durationMs / 1_000)} s`
  return `${ROUGHLY.format(durationMs / MINUTE_MS)} min`
}

/** Formats a size in decimal units: `612 bytes`, `50 kB`, `2.1 MB`. */
export const formatBytes = (bytes: number): string => {
  if (bytes < 1_000) return formatCount(bytes, 'byte')
  if (bytes < 1_000_000) return `${ROUGHLY.format(bytes / 1_000)} kB`
  return `${ROUGHLY.format(bytes / 1_000_000)} MB`
}
