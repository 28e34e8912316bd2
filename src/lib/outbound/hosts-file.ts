import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'

/** Returns the words of each line, without comments. */
const wordsOf = (text: string, comment: RegExp): string[][] =>
  text.split('\n').map(line => line.replace(comment, '').split(/\s+/).filter(Boolean))

/** Parses a hosts file (hosts(5)). Returns the addresses by name in lower case, in the order of the file. */
export const parseHosts = (text: string): ReadonlyMap<string, readonly LookupAddress[]> => {
  const hosts = new Map<string, LookupAddress[]>()
  for (const [address = '', ...names] of wordsOf(text, /#.*/)) {
    const family = isIP(address.split('%', 1)[0] ?? '')
    if (family === 0) continue
    for (const name of new Set(names.map(name => name.toLowerCase()))) {
      const addresses = hosts.get(name)
      if (addresses === undefined) hosts.set(name, [{ address, family }])
      else addresses.push({ address, family })
    }
  }
  return hosts
}

/** Returns the search domains in a resolv.conf, in lower case. The last `search` or `domain` line applies. */
export const parseSearchDomains = (text: string): readonly string[] => {
  let domains: string[] = []
  for (const [keyword, ...values] of wordsOf(text, /[#;].*/)) {
    if (keyword === 'search' || keyword === 'domain') {
      domains = values.map(domain => domain.toLowerCase().replace(/^\.|\.$/g, ''))
    }
  }
  return domains.filter(Boolean)
}
