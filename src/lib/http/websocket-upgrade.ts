import type { IncomingMessage } from 'node:http'

/**
 * Returns whether a request is for an upgrade to WebSocket (RFC 6455 §4.1) at `/s/`. Other upgrades, such as to HTTP/2
 * by Java's client, are ignored, as RFC 9110 §7.8 allows.
 */
export const isWebSocketUpgrade = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && /^(?:https?:\/\/[^/]*)?\/s\//i.test(url)
