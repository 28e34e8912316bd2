import { type HttpExchange, hasDisconnected, limitStall, writeHead } from '../http-exchange.ts'

/** Unsent bytes above which a slow reader is disconnected, because they occupy our memory. */
const MAX_UNSENT_BYTES = 1_024 * 1_024

const FIELDS = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache, no-transform',
  // Otherwise proxies such as nginx buffer events.
  'x-accel-buffering',
  'no',
]

/** Formats a message as an event (HTML, "Server-sent events"). JSON contains no line breaks. */
export const messageEvent = (json: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${json}\n\n` : `id: ${id}\nevent: message\ndata: ${json}\n\n`

const KEEP_ALIVE = ': keep-alive\n\n'

/**
 * Responds with an event stream. `onClose` is called once, whichever side ends it, also if the client has already left.
 */
export const openEventStream = (http: HttpExchange, first: string, onClose: () => void) => {
  const { raw } = http
  const isGone = hasDisconnected(http)
  // Asynchronous, like every other close.
  if (isGone) queueMicrotask(onClose)
  else {
    writeHead(http, 200, FIELDS)
    raw.on('close', onClose)
    // Without a first event, clients wait for the head.
    if (first === '') raw.flushHeaders()
    else raw.write(first)
  }
  const write = (events: string): void => {
    if (isGone || raw.writableEnded || raw.destroyed) return
    // Checked before writing, because one long message does not mean that the reader has stopped.
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
    /** Whether the stream ended and everything was handed to the network. */
    get isDelivered() {
      return raw.writableFinished
    },
  }
}
export type EventStream = ReturnType<typeof openEventStream>
