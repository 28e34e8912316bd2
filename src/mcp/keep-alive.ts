import type { PostChannel } from './client-channel.ts'
import { type HttpExchange, writeWhiteSpace } from './http-exchange.ts'

/** Many proxies cut a connection on which nothing was sent for 30 or 60 seconds. */
const EVERY_MS = 15_000

/**
 * Keeps the connection of a slow request open: with comments in an event stream, or with white space before the JSON if
 * the client does not accept streams. Returns a function that stops it.
 */
export const keepAlive = (http: HttpExchange, channel?: PostChannel): (() => void) => {
  const timer = setInterval(() => {
    if (channel?.isOpen) channel.beat()
    else writeWhiteSpace(http)
  }, EVERY_MS)
  return () => clearInterval(timer)
}
