import ipaddr from 'ipaddr.js'

/** Bits of an IPv6 address that one customer has all the rest of. */
const IPV6_NETWORK_BITS = 64

/**
 * An address as far as it says who is calling: an IPv4 address, or the network of an IPv6 one. What is no address (a
 * Unix socket) is one caller. Who counts by address counts by this, or a flood has as many addresses as it likes.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString()
}
