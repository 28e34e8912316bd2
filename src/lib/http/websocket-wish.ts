import type { IncomingMessage } from 'node:http'

/**
 * Whether a request wants to go on as a WebSocket (RFC 6455 §4.1) with a server under `/s/`. Any other wish for another
 * protocol, such as that of Java's client for HTTP/2, is passed over, as RFC 9110 §7.8 allows: the request is answered as
 * if it had none.
 */
export const wishesWebSocket = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && /^(?:https?:\/\/[^/]*)?\/s\//i.test(url)
