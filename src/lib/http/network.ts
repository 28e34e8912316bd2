import ipaddr from 'ipaddr.js'

/** Prefix length of the IPv6 network that a provider usually assigns to one customer. */
const IPV6_NETWORK_BITS = 64

/**
 * Returns the key for counting a caller's requests: an IPv4 address, or the /64 network of an IPv6 address, since one
 * caller can use any address in it. Everything that is not an IP address (a Unix socket) shares one key.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString()
}
