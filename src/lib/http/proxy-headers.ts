import type { IncomingHttpHeaders } from 'node:http'

/** Headers with which proxies say that they passed a request on (RFC 7239; RFC 9110 §7.6.3; those of products). */
const PROXY_HEADER = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-.*|x-real-ip|x-client-ip|true-client-ip|cf-.*)$/

/** Returns the name of a header that a proxy has added to the request, if there is one. */
export const findProxyHeader = (headers: IncomingHttpHeaders): string | undefined => {
  for (const name in headers) if (PROXY_HEADER.test(name)) return name
  return undefined
}
