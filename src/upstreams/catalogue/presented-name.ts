import { createHash } from 'node:crypto'
import { TOOL_NAME } from '../../lib/kernel/names.ts'
import type { Upstream } from '../upstream.ts'

const MAX_NAME_CHARS = 64
/** Enough that two names of one server do not collide. */
const HASH_CHARS = 8

/**
 * Returns the name of an upstream's tool or prompt on the server: `{prefix}_{item}`. An invalid name is cleaned, cut
 * and given a hash of the original, so that it stays stable and unique.
 */
export const presentedName = ({ name, config }: Pick<Upstream, 'name' | 'config'>, item: string): string => {
  const prefix = config.prefix ?? name
  const wanted = prefix === '' ? item : `${prefix}_${item}`
  if (TOOL_NAME.test(wanted)) return wanted
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, HASH_CHARS)
  const plain = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)
  return `${plain}_${hash}`
}
