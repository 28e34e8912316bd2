import { formatNumber } from '../kernel/format.ts'

/** Counts the lines of a text, including an empty last line. */
export const countLines = (text: string): number => {
  let count = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Formats an amount such as `1 item`, `3 items` or `0 to 1,204 items`. */
export const formatAmount = (least: number, most: number, one: string): string => {
  const amount = least === most ? formatNumber(most) : `${formatNumber(least)} to ${formatNumber(most)}`
  return `${amount} ${one}${most === 1 ? '' : 's'}`
}
