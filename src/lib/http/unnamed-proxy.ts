import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http'
import type { Notices } from '../process/notices.ts'
import { createProxyTrust } from './forwarded-for.ts'

/** Headers that proxies add (RFC 7239; RFC 9110 §7.6.3; the X-Forwarded-* that are in use). */
const PROXY_HEADERS = [
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'forwarded',
  'via',
] as const

/** Returns the name of a header that a proxy has added to the request, if there is one. */
export const findProxyHeader = (headers: IncomingHttpHeaders): string | undefined =>
  PROXY_HEADERS.find(name => headers[name] !== undefined)

/**
 * Reports once if a request arrives through a proxy that is not in `trustProxy` (PATCHBAY_TRUST_PROXY). All its clients
 * would seem to have the proxy's address.
 */
export const watchForUnnamedProxies = (server: Server, trustProxy: readonly string[], notices: Notices): void => {
  const isTrusted = createProxyTrust(trustProxy)
  const examine = ({ headers, socket: { remoteAddress = '' } }: IncomingMessage): void => {
    const header = findProxyHeader(headers)
    if (header === undefined || isTrusted(remoteAddress)) return
    server.off('request', examine)
    const message =
      `Requests arrive through a proxy at ${remoteAddress} that PATCHBAY_TRUST_PROXY does not name, so all its clients ` +
      'share one address in the limits of sign-in and in the audit log. If it is your proxy, set PATCHBAY_TRUST_PROXY ' +
      `to its address or range. Otherwise, a client sent the header ${header} itself, which has no effect.`
    notices.raise({ name: 'unnamed_proxy', level: 'advice', message })
  }
  server.on('request', examine)
}
