/** Headers that belong to the connection (RFC 9110 §7.2, §7.6.1, §8.6, §10.1.1). */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
])

/** Returns whether a header is reserved for the connection, a proxy or a browser, so that tools may not set it. */
export const isReservedHeader = (lowerCaseName: string): boolean =>
  CONNECTION_HEADERS.has(lowerCaseName) || lowerCaseName.startsWith('proxy-') || lowerCaseName.startsWith('sec-')
