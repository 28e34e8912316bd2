import type { FastifyReply } from 'fastify'

/** Maximum unsent bytes, which are buffered in memory. If a reader falls further behind, its stream is closed. */
const MAX_UNSENT_BYTES = 256 * 1_024
/** How long browsers wait before they reconnect. */
const RETRY_MS = 3_000

/** Responds with server-sent events (HTML, §9.2). `onClose` is called once, whichever side closes the stream. */
export const openLiveStream = (reply: FastifyReply, onClose: () => void) => {
  const { raw } = reply
  reply.hijack()
  // If the client has already disconnected, no further close event follows.
  if (raw.destroyed || raw.closed) queueMicrotask(onClose)
  else raw.once('close', onClose)
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value)
  }
  raw.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    // Keeps proxies such as nginx from buffering events.
    'x-accel-buffering': 'no',
  })
  const write = (text: string): void => {
    if (raw.writableEnded || raw.destroyed) return
    if (raw.writableLength > MAX_UNSENT_BYTES) raw.destroy()
    else raw.write(text)
  }
  write(`retry: ${RETRY_MS}\n\n`)
  return {
    /** Sends an event with `data` as JSON. */
    send: (event: string, data: object): void => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    /** Sends a comment that keeps proxies from closing an idle connection. */
    beat: (): void => write(': keep-alive\n\n'),
    end: (): void => {
      if (!raw.writableEnded) raw.end()
    },
  }
}
export type LiveStream = ReturnType<typeof openLiveStream>
