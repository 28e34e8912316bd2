import type { Caller } from '../../execution/index.ts'
import type { PassedTarget } from './request-target.ts'

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
  for (let times = 0; times < MAX_DECODINGS; times++) text = decode(text)
  return text
    .replaceAll('\\', '/')
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(/\/+/g, '/')
    .replace(/\/$/, '')
    .toLowerCase()
}

/** As clients may write one address that they were told. */
const isSame = (one: PassedTarget, other: PassedTarget): boolean =>
  decode(one.suffix) === decode(other.suffix) && decode(one.search) === decode(other.search)

type Address = PassedTarget & { path: string; caller: Caller }

/**
 * Where the messages of the older transport's open streams go. The address is all that says whose they are, so only who
 * has the stream sends there. An upstream may read other spellings of it as the same: on a path where messages go,
 * nothing but the sender's own address is let through.
 */
export const createMessageAddresses = () => {
  const open = new Map<string, Set<Address>>()
  return {
    /** The caller was told this address, and has it until what is returned is called. */
    claim: (serverId: string, { suffix, search }: PassedTarget, caller: Caller): (() => void) => {
      const addresses = open.get(serverId) ?? new Set()
      open.set(serverId, addresses)
      const address = { suffix, search, path: plainPath(suffix), caller }
      addresses.add(address)
      return () => {
        addresses.delete(address)
        if (addresses.size === 0 && open.get(serverId) === addresses) open.delete(serverId)
      }
    },
    /** Whether a message may be sent there by this caller. */
    isAllowed: (serverId: string, target: PassedTarget, caller: Caller): boolean => {
      const addresses = open.get(serverId)
      if (addresses === undefined) return true
      const path = plainPath(target.suffix)
      let isOfMessages = false
      for (const address of addresses) {
        if (address.path !== path) continue
        isOfMessages = true
        if (isSame(address, target) && (address.caller === undefined || address.caller.userId === caller?.userId))
          return true
      }
      return !isOfMessages
    },
  }
}
