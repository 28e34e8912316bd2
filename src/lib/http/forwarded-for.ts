import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { contains, parseNetworks } from '../outbound/address-policy.ts'

/** Creates a function that returns whether an address is in one of these networks (PATCHBAY_TRUST_PROXY). */
export const createProxyTrust = (trustProxy: readonly string[]): ((address: string) => boolean) => {
  const networks = parseNetworks(trustProxy)
  return address => {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return networks.some(network => contains(network, parsed))
  }
}

/**
 * Creates a function that returns a request's client and proxy addresses, client first, as in X-Forwarded-For. The
 * header is trusted only if the peer is in one of these networks (PATCHBAY_TRUST_PROXY). Otherwise, only the peer's
 * address is returned.
 */
export const createForwardedFor = (trustProxy: readonly string[]): ((incoming: IncomingMessage) => string) => {
  const isTrusted = createProxyTrust(trustProxy)
  return ({ socket: { remoteAddress = 'unknown' }, headers }) => {
    const forwarded = headers['x-forwarded-for']
    return typeof forwarded === 'string' && isTrusted(remoteAddress) ? `${forwarded}, ${remoteAddress}` : remoteAddress
  }
}
