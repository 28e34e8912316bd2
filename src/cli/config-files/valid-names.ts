import { RESERVED_TOOL_PREFIX, TOOL_NAME } from '../../lib/kernel/names.ts'

const MAX_NAME_CHARS = 64
const MAX_KEY_CHARS = 64

/** Returns whether upstreams may not have this name, because it would clash with Patchbay's own tools. */
const isReserved = (name: string): boolean => name === 'proxy' || name.startsWith(RESERVED_TOOL_PREFIX)

/** Returns the name if an upstream may have it, else the most similar valid name. */
export const validName = (name: string): string => {
  if (TOOL_NAME.test(name) && !isReserved(name)) return name
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, MAX_NAME_CHARS)
  if (plain === '') return 'server'
  return isReserved(plain) ? `upstream-${plain}`.slice(0, MAX_NAME_CHARS) : plain
}

/** Returns the first of `name`, `name-2`, `name-3` … that is not taken. */
export const freeName = (name: string, isTaken: (name: string) => boolean): string => {
  for (let at = 1; ; at++) {
    const ending = at === 1 ? '' : `-${at}`
    const candidate = `${name.slice(0, MAX_NAME_CHARS - ending.length)}${ending}`
    if (!isTaken(candidate)) return candidate
  }
}

/** Turns any name into a valid key for a global. */
export const validKey = (name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, MAX_KEY_CHARS)
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`.slice(0, MAX_KEY_CHARS)
}
