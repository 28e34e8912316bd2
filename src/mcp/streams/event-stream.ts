import { type Exchange, hasLeft, limitStall, writeHead } from './exchange.ts'

/** Bytes a reader may be behind before the stream is cut: it would hold them in our memory. */
const MAX_UNSENT_BYTES = 1_024 * 1_024

const FIELDS = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache, no-transform',
  // Proxies such as nginx would hold events back otherwise.
  'x-accel-buffering',
  'no',
]

/** One message as an event (HTML, "Server-sent events"). JSON has no line breaks of its own. */
export const messageEvent = (json: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${json}\n\n` : `id: ${id}\nevent: message\ndata: ${json}\n\n`

const KEEP_ALIVE = ': keep-alive\n\n'

export type EventStream = {
  send: (events: string) => void
  /** A comment, so that nobody between takes the connection for dead. */
  beat: () => void
  end: (events?: string) => void
  /** Whether it ended with everything handed over to the network. */
  readonly isDelivered: boolean
}

const start = (exchange: Exchange, first: string, onClose: () => void): void => {
  const { raw } = exchange
  writeHead(exchange, 200, FIELDS)
  raw.on('close', onClose)
  // Without a first event the head alone must go out, or the client waits for it.
  if (first === '') raw.flushHeaders()
  else raw.write(first)
}

/** Answers with an event stream. `onClose` is called once, whichever side ends it, or had ended it before. */
export const openEventStream = (exchange: Exchange, first: string, onClose: () => void): EventStream => {
  const { raw } = exchange
  const isGone = hasLeft(exchange)
  // Later than the caller's own steps, as every other close is.
  if (isGone) queueMicrotask(onClose)
  else start(exchange, first, onClose)
  const write = (events: string): void => {
    if (isGone || raw.writableEnded || raw.destroyed) return
    // Looked at before writing, for one long message is no sign of a reader that has stopped.
    if (raw.writableLength > MAX_UNSENT_BYTES) raw.destroy()
    else raw.write(events)
  }
  return {
    send: write,
    beat: () => write(KEEP_ALIVE),
    end: events => {
      if (isGone || raw.writableEnded || raw.destroyed) return
      raw.end(events)
      limitStall(raw, raw.writableLength)
    },
    get isDelivered() {
      return raw.writableFinished
    },
  }
}
