import type { IncomingMessage, Server } from 'node:http'
import { LRUCache } from 'lru-cache'
import { DAY_MS } from '../kernel/durations.ts'
import type { Notices } from '../process/notices.ts'
import { createProxyTrust } from './forwarded-for.ts'
import { findProxyHeader } from './proxy-headers.ts'

/** Maximum addresses whose requests are counted. The least recent are forgotten first. */
const MAX_ADDRESSES = 1_000

/**
 * Reports requests that arrive through a proxy that is not in `trustProxy` (PATCHBAY_TRUST_PROXY). All its clients would
 * seem to have the proxy's address. A client can send the header itself, so the advice names the address with the most
 * such requests, says how often and when last, and ends a day after the last time: a proxy is seen again and again.
 */
export const watchForUnnamedProxies = (server: Server, trustProxy: readonly string[], notices: Notices): void => {
  const isTrusted = createProxyTrust(trustProxy)
  const counts = new LRUCache<string, number>({ max: MAX_ADDRESSES })
  let most = { address: '', count: 0 }
  server.on('request', ({ headers, socket: { remoteAddress = '' } }: IncomingMessage): void => {
    const header = findProxyHeader(headers)
    if (header === undefined || isTrusted(remoteAddress)) return
    if (!notices.has('unnamed_proxy')) {
      counts.clear()
      most = { address: '', count: 0 }
    }
    const count = (counts.get(remoteAddress) ?? 0) + 1
    counts.set(remoteAddress, count)
    if (count <= most.count && remoteAddress !== most.address) return
    most = { address: remoteAddress, count }
    const now = Date.now()
    const seen = count === 1 ? 'seen once' : `seen ${count} times`
    const message =
      `Requests arrive through a proxy at ${remoteAddress} that PATCHBAY_TRUST_PROXY does not name (${seen}, last at ` +
      `${new Date(now).toISOString()}, by the header ${header}), so all its clients share one address in the limits of ` +
      'sign-in and in the audit log. If it is your proxy, set PATCHBAY_TRUST_PROXY to its address or range. Otherwise, ' +
      'a client sent the header itself: that has no effect, and this advice ends a day after the last such request.'
    notices.raise({ name: 'unnamed_proxy', level: 'advice', message, until: now + DAY_MS })
  })
}
