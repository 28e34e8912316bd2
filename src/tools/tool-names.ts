import { TOOL_NAME } from '../lib/kernel/names.ts'

/**
 * Returns the name that a typed text becomes: `get_order` for "Get order". A valid name stays as it is, and so does a
 * text of which nothing would be left.
 */
export const toToolName = (typed: string): string => {
  const text = typed.trim()
  if (TOOL_NAME.test(text)) return text
  const words = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')
  return words.length === 0 ? text : words.join('_').slice(0, 64)
}
