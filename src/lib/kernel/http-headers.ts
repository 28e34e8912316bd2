/** What the connection decides (RFC 9110 §7.2, §7.6.1, §8.6, §10.1.1). */
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

/** Whether no tool may set this header: the connection's own, and what only a proxy or a browser may say. */
export const isReservedHeader = (lowerCaseName: string): boolean =>
  CONNECTION_HEADERS.has(lowerCaseName) || lowerCaseName.startsWith('proxy-') || lowerCaseName.startsWith('sec-')
