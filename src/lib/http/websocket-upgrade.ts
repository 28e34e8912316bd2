import type { IncomingMessage } from 'node:http'

/**
 * Returns whether a request asks to upgrade to WebSocket (RFC 6455 §4.1) under `/s/`. Other upgrades are ignored, as
 * RFC 9110 §7.8 allows. For example, Java's HTTP client asks to upgrade to HTTP/2.
 */
export const isWebSocketUpgrade = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && /^(?:https?:\/\/[^/]*)?\/s\//i.test(url)
