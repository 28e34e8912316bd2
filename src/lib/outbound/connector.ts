import { isIP, type LookupFunction, type Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import { buildConnector } from 'undici'
import { noteShortage } from '../process/file-descriptors.ts'
import type { AddressPolicy } from './address-policy.ts'

/** The policy refused a connection. `message` may be shown; `cause` may not, because it names the address of a host. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError'
}

const HOW_TO_ALLOW = 'the operator can allow it with PATCHBAY_ALLOW_PRIVATE_NETWORKS'

/** Omits the address, which would reveal to a tenant how a private network is numbered. */
const refuseName = (hostname: string, reason: string) =>
  new BlockedError(`${hostname} resolves to an address that is not public; ${HOW_TO_ALLOW}`, { cause: reason })

/** Resolves a name for an organization, or for Patchbay's own requests if that is undefined. */
export type OutboundLookup = (
  ...args: [...lookup: Parameters<LookupFunction>, organizationId: string | undefined]
) => void

/** Receives how long it took to resolve the name for a socket; unchanged if there was none to resolve. */
export type LookupTime = { lookupMs: number }

/**
 * Resolves names with `lookup`, and refuses a name if any of its addresses is not allowed. The socket connects to an
 * address from the checked list, so no second lookup can return a different one (DNS rebinding).
 */
const guardLookup =
  (
    policy: AddressPolicy,
    lookup: OutboundLookup,
    organizationId: string | undefined,
    opening: () => LookupTime | undefined,
  ): LookupFunction =>
  (hostname, options, callback) => {
    const time = opening()
    const startedMs = performance.now()
    const check: typeof callback = (error, addresses) => {
      if (time !== undefined) time.lookupMs = performance.now() - startedMs
      if (error !== null) return callback(error, [])
      // With `all`, a resolver returns a list. Anything else cannot be checked, so it counts as empty.
      const list = Array.isArray(addresses) ? addresses : []
      const first = list[0]
      if (first === undefined) {
        return callback(Object.assign(new Error(`no address for ${hostname}`), { code: 'ENOTFOUND' }), [])
      }
      for (const { address } of list) {
        const verdict = policy(address)
        if (!verdict.ok) return callback(refuseName(hostname, verdict.error), [])
      }
      if (options.all === true) callback(null, list)
      else callback(null, first.address, first.family)
    }
    lookup(hostname, { ...options, all: true }, check, organizationId)
  }

/** Maximum number of organizations whose connectors are stored. A connector holds TLS sessions, which save a round trip. */
const MAX_CONNECTORS = 256
/** The connector of Patchbay's own requests. */
const NO_ORGANIZATION = ''

export type ConnectorOptions = { policy: AddressPolicy; lookup: OutboundLookup; connectTimeoutMs: number }

type Connect = (...call: [...Parameters<buildConnector.connector>, time?: LookupTime]) => void

/** Returns the connector that opens the sockets of an organization. */
export type ConnectorFor = (organizationId: string | undefined) => Connect

/**
 * Creates connectors that open sockets only to allowed addresses. They check literal addresses before connecting,
 * because those need no lookup, names when they are resolved, and finally the address that the socket is connected to.
 * HTTP/1.1 only. Certificates are always verified. Proxy settings in the environment are ignored.
 */
export const createConnectors = ({ policy, lookup, connectTimeoutMs }: ConnectorOptions): ConnectorFor => {
  const connectors = new LRUCache<string, Connect>({
    maxSize: MAX_CONNECTORS,
    sizeCalculation: () => 1,
  })

  const refusePeer = ({ remoteAddress }: Socket): Error | undefined => {
    // The socket has already been reset.
    if (remoteAddress === undefined) return Object.assign(new Error('closed at once'), { code: 'ECONNRESET' })
    const verdict = policy(remoteAddress)
    if (verdict.ok) return undefined
    return new BlockedError(`the connection led to an address that is not public; ${HOW_TO_ALLOW}`, {
      cause: verdict.error,
    })
  }

  const create: ConnectorFor = organizationId => {
    // Node calls `lookup` while `connect` runs, so it belongs to the socket that is being opened.
    let opening: LookupTime | undefined
    const connect = buildConnector({
      lookup: guardLookup(policy, lookup, organizationId, () => opening),
      timeout: connectTimeoutMs,
      autoSelectFamily: true,
      rejectUnauthorized: true,
      allowH2: false,
    })
    return (options, callback, time) => {
      if (isIP(options.hostname) !== 0) {
        const verdict = policy(options.hostname)
        if (!verdict.ok) return callback(new BlockedError(`${verdict.error}; ${HOW_TO_ALLOW}`), null)
      }
      opening = time
      connect(options, (error, socket) => {
        if (error !== null) {
          noteShortage(error)
          return callback(error, null)
        }
        const refusal = refusePeer(socket)
        if (refusal === undefined) return callback(null, socket)
        socket.destroy()
        callback(refusal, null)
      })
      opening = undefined
    }
  }

  return organizationId => {
    const key = organizationId ?? NO_ORGANIZATION
    const connector = connectors.get(key) ?? create(organizationId)
    connectors.set(key, connector)
    return connector
  }
}
