import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { failure, type Result, success } from '../kernel/result.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [base: Address, prefixLength: number]

/**
 * Checks whether connections to an address are allowed. The error is a clause such as "127.0.0.1 is
 * a loopback address".
 */
export type AddressPolicy = (address: string) => Result<void, string>

const parseAddress = (text: string): Address | undefined => {
  // A zone (fe80::1%eth0) names an interface and does not change the address.
  const address = text.split('%', 1)[0] ?? ''
  return isIP(address) === 0 ? undefined : ipaddr.parse(address)
}

const bitsOf = (address: Address): number => (address.kind() === 'ipv4' ? 32 : 128)

const parseNetwork = (text: string): Network | undefined => {
  const [address = '', prefix, ...rest] = text.split('/')
  if (isIP(address) === 0 || rest.length > 0) return undefined
  const base = ipaddr.parse(address)
  // Policies treat IPv4-mapped addresses as IPv4, so a network of mapped addresses would match nothing.
  if (base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress()) return undefined
  if (prefix === undefined) return [base, bitsOf(base)]
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bitsOf(base) ? [base, Number(prefix)] : undefined
}

/** Whether a string is a network such as 10.0.0.0/8 or fd00::/8, or a single address. */
export const isCidr = (text: string): boolean => parseNetwork(text) !== undefined

/** Parses networks. Throws if `isCidr` does not accept one of them. */
export const parseNetworks = (texts: readonly string[]): readonly Network[] =>
  texts.map(text => {
    const network = parseNetwork(text)
    if (network === undefined) throw new Error(`${text} is not a network such as 10.0.0.0/8`)
    return network
  })

export const contains = ([base, prefixLength]: Network, address: Address): boolean =>
  base.kind() === address.kind() && address.match(base, prefixLength)

/**
 * Addresses from which clouds serve credentials: AWS, ECS, EKS, Azure, GCP, Alibaba, Oracle, OpenStack. Each is allowed
 * only by an entry for exactly that address, not by an entry for a network.
 */
const METADATA: readonly string[] = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fe80::a9fe:a9fe',
].map(text => ipaddr.parse(text).toString())

const RANGES: Readonly<Record<string, string>> = {
  loopback: 'a loopback address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  linkLocal: 'a link-local address',
  carrierGradeNat: 'a carrier-grade NAT address',
  unspecified: 'the unspecified address',
  broadcast: 'the broadcast address',
  multicast: 'a multicast address',
}

/** The only range of global unicast addresses. The rest of IPv6 is special-purpose or reserved (RFC 4291 §2.4). */
const GLOBAL_IPV6: Network = [ipaddr.parse('2000::'), 3]

/** Returns the kind of a special address, or undefined if the address is public. */
const specialUseOf = (address: Address): string | undefined => {
  const range = address.range()
  if (range !== 'unicast') return RANGES[range] ?? 'a reserved address'
  return address.kind() === 'ipv6' && !contains(GLOBAL_IPV6, address) ? 'a reserved address' : undefined
}

/**
 * Returns the IPv4 address that a gateway or the kernel would extract from an IPv6 address: mapped
 * and compatible (RFC 4291), translated (RFC 2765), NAT64 well-known and local-use (RFC 6052, RFC
 * 8215), 6to4 (RFC 3056), Teredo (RFC 4380).
 */
const hiddenIpv4 = ({ parts }: ipaddr.IPv6): ipaddr.IPv4 | undefined => {
  const [p0 = 0, p1 = 0, p2 = 0, p3 = 0, p4 = 0, p5 = 0, p6 = 0, p7 = 0] = parts
  const ipv4 = (high: number, low: number) => new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255])
  const startsWithZeros = p0 === 0 && p1 === 0 && p2 === 0 && p3 === 0
  if (startsWithZeros && p4 === 0 && p5 === 0xffff) return ipv4(p6, p7)
  // Except for :: and ::1.
  if (startsWithZeros && p4 === 0 && p5 === 0) return p6 === 0 && p7 <= 1 ? undefined : ipv4(p6, p7)
  if (startsWithZeros && p4 === 0xffff && p5 === 0) return ipv4(p6, p7)
  // Other prefix lengths embed the address elsewhere. Their whole range is refused.
  if (p0 === 0x64 && p1 === 0xff9b && p2 <= 1 && p3 === 0 && p4 === 0 && p5 === 0) return ipv4(p6, p7)
  if (p0 === 0x2002) return ipv4(p1, p2)
  if (p0 === 0x2001 && p1 === 0) return ipv4(p6 ^ 0xffff, p7 ^ 0xffff)
  return undefined
}

/**
 * Creates a policy that allows public addresses and those in `allow`, which holds networks and single addresses from
 * the operator's settings. Apply it to the address that a socket connects to, never to a name. Throws if an entry of
 * `allow` is invalid (see `isCidr`). Sources: IANA special-purpose registries (RFC 6890), and the cloud providers'
 * manuals for metadata addresses.
 */
export const createAddressPolicy = ({ allow }: { allow: readonly string[] }): AddressPolicy => {
  const networks = parseNetworks(allow)
  const exact = networks.filter(([base, prefixLength]) => prefixLength === bitsOf(base))

  const refusalOf = (address: Address): string | undefined => {
    if (exact.some(network => contains(network, address))) return undefined
    if (METADATA.includes(address.toString())) {
      return 'a cloud metadata address, which only an entry for exactly this address allows'
    }
    if (address instanceof ipaddr.IPv6) {
      const hidden = hiddenIpv4(address)
      if (hidden !== undefined) return refusalOf(hidden)
    }
    if (networks.some(network => contains(network, address))) return undefined
    return specialUseOf(address)
  }

  return text => {
    const address = parseAddress(text)
    if (address === undefined) return failure(`${text} is not an address`)
    const refusal = refusalOf(address)
    return refusal === undefined ? success(undefined) : failure(`${text} is ${refusal}`)
  }
}
