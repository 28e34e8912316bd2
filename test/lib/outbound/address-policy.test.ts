import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAddressPolicy, isCidr } from '../../../src/lib/outbound/address-policy.ts'

const closed = createAddressPolicy({ allow: [] })

/** Ranges of the IANA special-purpose registries, each with one or both of its ends. */
const SPECIAL: readonly (readonly [address: string, what: string])[] = [
  ['0.0.0.0', 'the unspecified address'],
  ['0.255.255.255', 'the unspecified address'],
  ['10.0.0.0', 'a private address'],
  ['10.255.255.255', 'a private address'],
  ['100.64.0.0', 'a carrier-grade NAT address'],
  ['100.127.255.255', 'a carrier-grade NAT address'],
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['169.254.0.1', 'a link-local address'],
  ['172.16.0.0', 'a private address'],
  ['172.31.255.255', 'a private address'],
  ['192.0.0.1', 'a reserved address'],
  ['192.0.2.1', 'a reserved address'],
  ['192.31.196.1', 'a reserved address'],
  ['192.52.193.1', 'a reserved address'],
  ['192.88.99.1', 'a reserved address'],
  ['192.168.0.0', 'a private address'],
  ['192.168.255.255', 'a private address'],
  ['192.175.48.1', 'a reserved address'],
  ['198.18.0.0', 'a reserved address'],
  ['198.19.255.255', 'a reserved address'],
  ['198.51.100.1', 'a reserved address'],
  ['203.0.113.1', 'a reserved address'],
  ['224.0.0.1', 'a multicast address'],
  ['239.255.255.255', 'a multicast address'],
  ['240.0.0.1', 'a reserved address'],
  ['255.255.255.255', 'the broadcast address'],
  ['::', 'the unspecified address'],
  ['::1', 'a loopback address'],
  ['100::1', 'a reserved address'],
  ['2001::1', 'a reserved address'],
  ['2001:2::1', 'a reserved address'],
  ['2001:10::1', 'a reserved address'],
  ['2001:db8::1', 'a reserved address'],
  ['3fff::1', 'a reserved address'],
  ['4000::1', 'a reserved address'],
  ['5f00::1', 'a reserved address'],
  ['64:ff9b:1::a00:1', 'a private address'],
  ['64:ff9b:1:2::808:808', 'a reserved address'],
  ['fc00::1', 'a private address'],
  ['fdff:ffff::1', 'a private address'],
  ['fe80::1', 'a link-local address'],
  ['fe80::1%eth0', 'a link-local address'],
  ['fec0::1', 'a reserved address'],
  ['ff02::1', 'a multicast address'],
]

const METADATA = [
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
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
]

const PUBLIC = ['93.184.216.34', '8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1']

/** The notations in which an IPv6 address can carry an IPv4 address, given its two halves in hexadecimal. */
const CARRIERS: readonly (readonly [name: string, carry: (high: string, low: string) => string])[] = [
  ['mapped', (high, low) => `::ffff:${high}:${low}`],
  ['compatible', (high, low) => `::${high}:${low}`],
  ['translated', (high, low) => `::ffff:0:${high}:${low}`],
  ['NAT64', (high, low) => `64:ff9b::${high}:${low}`],
  ['local NAT64', (high, low) => `64:ff9b:1::${high}:${low}`],
  ['6to4', (high, low) => `2002:${high}:${low}::1`],
  ['Teredo', (high, low) => `2001:0:1:2:3:4:${invert(high)}:${invert(low)}`],
]
const invert = (half: string): string => (Number.parseInt(half, 16) ^ 0xffff).toString(16)
const halvesOf = (address: string): [string, string] => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)]
}

describe('an address policy with no allow-list', () => {
  it.each(SPECIAL)('refuses %s: %s', (address, what) => {
    expect(closed(address)).toEqual({ ok: false, error: `${address} is ${what}` })
  })

  it.each(METADATA)('refuses the metadata address %s', address => {
    expect(closed(address)).toMatchObject({ ok: false, error: expect.stringContaining('a cloud metadata address') })
  })

  it.each(PUBLIC)('lets the public address %s through', address => {
    expect(closed(address).ok).toBe(true)
  })

  it.each(['', 'localhost', '127.1', '2130706433', '0x7f.0.0.1', '[::1]', '1.2.3.4/8', '1.2.3.4:80'])(
    'refuses %o, which is no address',
    text => {
      expect(closed(text).ok).toBe(false)
    },
  )

  it.each(CARRIERS)('judges the IPv4 address in an IPv6 one (%s) like the IPv4 address itself', (_, carry) => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.constantFrom(...SPECIAL.map(([address]) => address).filter(isIpv4))), ipv4 => {
        const carried = carry(...halvesOf(ipv4))
        // :: and ::1 stand for themselves, not for 0.0.0.0 and 0.0.0.1.
        fc.pre(carried !== '::0:0' && carried !== '::0:1')
        expect(closed(carried).ok).toBe(closed(ipv4).ok)
      }),
    )
  })
})

const isIpv4 = (address: string): boolean => address.includes('.') && !address.includes(':')

describe('an allow-list', () => {
  it('opens its networks and nothing else', () => {
    const policy = createAddressPolicy({ allow: ['10.1.0.0/16', 'fd12::/16'] })
    expect(policy('10.1.2.3').ok).toBe(true)
    expect(policy('::ffff:10.1.2.3').ok).toBe(true)
    expect(policy('64:ff9b::a01:203').ok).toBe(true)
    expect(policy('fd12::1').ok).toBe(true)
    expect(policy('10.2.0.1').ok).toBe(false)
    expect(policy('192.168.0.1').ok).toBe(false)
    expect(policy('fd13::1').ok).toBe(false)
  })

  it.each(METADATA)('as wide as everything leaves the metadata address %s closed', address => {
    const policy = createAddressPolicy({ allow: ['0.0.0.0/0', '::/0', '169.254.0.0/16', 'fd00::/8'] })
    expect(policy('10.1.1.1').ok).toBe(true)
    expect(policy('fd12::1').ok).toBe(true)
    expect(policy(address).ok).toBe(false)
  })

  it.each(['169.254.169.254', '169.254.169.254/32'])('entry %s opens that one metadata address', entry => {
    const policy = createAddressPolicy({ allow: [entry] })
    expect(policy('169.254.169.254').ok).toBe(true)
    expect(policy('::ffff:169.254.169.254').ok).toBe(true)
    expect(policy('169.254.170.2').ok).toBe(false)
  })

  it('with an entry that is no network is refused, naming it', () => {
    expect(() => createAddressPolicy({ allow: ['10.0.0.0/33'] })).toThrow('10.0.0.0/33')
  })
})

describe('isCidr', () => {
  it.each(['10.0.0.0/8', '127.0.0.1', '0.0.0.0/0', 'fd00::/8', '::1', '::/0', 'fe80::1/128'])('takes %s', text => {
    expect(isCidr(text)).toBe(true)
  })

  const BAD = [
    '',
    'localhost',
    '10/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '010.0.0.0/8',
    '0x0a.0.0.0/8',
  ]
  it.each([...BAD, 'fd00::/129', '::ffff:10.0.0.0/104', '10.0.0.0 /8', '10.0.0.0/08x'])('refuses %o', text => {
    expect(isCidr(text)).toBe(false)
  })
})
