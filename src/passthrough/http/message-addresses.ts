import type { Caller } from '../../execution/index.ts'
import type { PassedTarget } from './request-target.ts'

/** So often may one escape hide another; nobody means more. */
const MAX_DECODINGS = 8

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A path without all that an upstream may make nothing of: two of one plain path may be one to it. */
const plainPath = (path: string): string => {
  let text = path
  for (let times = 0; times < MAX_DECODINGS && text.includes('%'); times++) text = decode(text)
  return text
    .replaceAll('\\', '/')
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(/\/+/g, '/')
    .replace(/\/$/, '')
    .toLowerCase()
}

/** In the place of a user. */
const ANYBODY = ''

/** By the server, who may send, and the address, as clients may write one that they were told. */
const addressKey = (serverId: string, user: string, { suffix, search }: PassedTarget): string =>
  `${serverId} ${user} ${decode(suffix)} ${decode(search)}`

const pathKey = (serverId: string, { suffix }: PassedTarget): string => `${serverId} path ${plainPath(suffix)}`

/**
 * Where the messages of the older transport's open streams go. The address is all that says whose they are, so only who
 * has the stream sends there. An upstream may read other spellings of it as the same: on a path where messages go,
 * nothing but the sender's own address is let through.
 */
export const createMessageAddresses = () => {
  /** How many open streams there are of each key. */
  const streams = new Map<string, number>()
  const add = (key: string, count: 1 | -1): void => {
    const sum = (streams.get(key) ?? 0) + count
    if (sum === 0) streams.delete(key)
    else streams.set(key, sum)
  }
  return {
    /** The caller was told this address, and has it until what is returned is called. */
    claim: (serverId: string, address: PassedTarget, caller: Caller): (() => void) => {
      const keys = [pathKey(serverId, address), addressKey(serverId, caller?.userId ?? ANYBODY, address)]
      for (const key of keys) add(key, 1)
      return () => {
        for (const key of keys) add(key, -1)
      }
    },
    /** Whether a message may be sent there by this caller. */
    isAllowed: (serverId: string, target: PassedTarget, caller: Caller): boolean =>
      !streams.has(pathKey(serverId, target)) ||
      [ANYBODY, caller?.userId ?? ANYBODY].some(user => streams.has(addressKey(serverId, user, target))),
  }
}
