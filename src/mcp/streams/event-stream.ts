import { type HttpExchange, hasDisconnected, limitStall, writeHead } from '../http-exchange.ts'

/**
 * Maximum number of unsent bytes per stream. A client that exceeds it is disconnected, because the bytes occupy our
 * memory.
 */
const MAX_UNSENT_BYTES = 1_024 * 1_024

const FIELDS = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache, no-transform',
  // Keeps proxies such as nginx from buffering events.
  'x-accel-buffering',
  'no',
]

/** Formats a JSON message, which contains no line breaks, as an event (HTML, "Server-sent events"). */
export const messageEvent = (json: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${json}\n\n` : `id: ${id}\nevent: message\ndata: ${json}\n\n`

const KEEP_ALIVE = ': keep-alive\n\n'

/**
 * Responds with an event stream. `onClose` is called once, whichever side ends the stream, even if the client has
 * already disconnected.
 */
export const openEventStream = (http: HttpExchange, first: string, onClose: () => void) => {
  const { raw } = http
  const isGone = hasDisconnected(http)
  // Calls `onClose` asynchronously, as in all other cases.
  if (isGone) queueMicrotask(onClose)
  else {
    writeHead(http, 200, FIELDS)
    raw.on('close', onClose)
    // Sends the head now, because clients wait for it and the first event may come later.
    if (first === '') raw.flushHeaders()
    else raw.write(first)
  }
  const write = (events: string): void => {
    if (isGone || raw.writableEnded || raw.destroyed) return
    // The check precedes the write, because one long message does not mean that the client has stopped reading.
    if (raw.writableLength > MAX_UNSENT_BYTES) raw.destroy()
    else raw.write(events)
  }
  return {
    send: write,
    /** Sends a comment, so that proxies keep the connection open. */
    beat: (): void => write(KEEP_ALIVE),
    end: (events?: string): void => {
      if (isGone || raw.writableEnded || raw.destroyed) return
      raw.end(events)
      limitStall(raw, raw.writableLength)
    },
    /** Whether the stream has ended and all of it has been handed to the network. */
    get isDelivered() {
      return raw.writableFinished
    },
  }
}
export type EventStream = ReturnType<typeof openEventStream>
