import { createHash } from 'node:crypto'

/**
 * Returns the id of an event that several processes may enter: the same UUID for the same parts, so that it is entered
 * once.
 */
export const eventIdOf = (...parts: readonly (string | number)[]): string => {
  const hex = createHash('sha256').update(parts.join(' ')).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
