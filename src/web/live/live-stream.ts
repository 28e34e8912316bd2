import type { FastifyReply } from 'fastify'

/** Bytes a reader may be behind before the stream is cut: it would hold them in our memory. */
const MAX_UNSENT_BYTES = 256 * 1_024
/** A browser waits so long before it comes back after the stream broke. */
const RETRY_MS = 3_000

export type LiveStream = {
  /** An event of this name, with `data` as JSON. */
  send: (event: string, data: object) => void
  /** A comment, so that nobody between takes the connection for dead. */
  beat: () => void
  end: () => void
}

/** Answers with server-sent events (HTML, §9.2). `onClose` is called once, whichever side ends it. */
export const openLiveStream = (reply: FastifyReply, onClose: () => void): LiveStream => {
  const { raw } = reply
  reply.hijack()
  // Whoever left while they were asked for closes nothing any more.
  if (raw.destroyed || raw.closed) queueMicrotask(onClose)
  else raw.once('close', onClose)
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value)
  }
  raw.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    // Proxies such as nginx would hold events back otherwise.
    'x-accel-buffering': 'no',
  })
  const write = (text: string): void => {
    if (raw.writableEnded || raw.destroyed) return
    if (raw.writableLength > MAX_UNSENT_BYTES) raw.destroy()
    else raw.write(text)
  }
  write(`retry: ${RETRY_MS}\n\n`)
  return {
    send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    beat: () => write(': keep-alive\n\n'),
    end: () => {
      if (!raw.writableEnded) raw.end()
    },
  }
}
