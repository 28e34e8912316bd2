import ipaddr from 'ipaddr.js'

/** Prefix length of the IPv6 network that providers usually assign to one customer. */
const IPV6_NETWORK_BITS = 64

/**
 * Returns the key for counting a caller's requests: an IPv4 address, or the /64 network of an IPv6 address, because one
 * caller can use any address in that network. All callers without an IP address (Unix sockets) share one key.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString()
}
