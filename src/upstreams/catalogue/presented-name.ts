import { createHash } from 'node:crypto'
import { TOOL_NAME } from '../../lib/kernel/names.ts'
import type { Upstream } from '../upstream.ts'

const MAX_NAME_CHARS = 64
/** Of the hash, enough that two names of one server do not meet. */
const HASH_CHARS = 8

/**
 * What a tool or prompt of an upstream is called among the others of a server: `{prefix}_{item}`. One that clients would not take
 * has its odd characters replaced, is shortened, and ends in a hash of what it was: the same for as long as that is.
 */
export const presentedName = ({ name, config }: Pick<Upstream, 'name' | 'config'>, item: string): string => {
  const prefix = config.prefix ?? name
  const wanted = prefix === '' ? item : `${prefix}_${item}`
  if (TOOL_NAME.test(wanted)) return wanted
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, HASH_CHARS)
  const plain = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)
  return `${plain}_${hash}`
}
