import ipaddr from 'ipaddr.js'

/** Prefix length of the IPv6 network that one customer usually gets. */
const IPV6_NETWORK_BITS = 64

/**
 * Returns the key to count a caller by: an IPv4 address, or the /64 network of an IPv6 address, since one caller can
 * use any address in it. Anything that is not an address (a Unix socket) counts as one caller.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString()
}
