import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { findResponse, trackConnections } from './connections.ts'

/** How often a shutdown closes connections that have become idle. */
const SWEEP_MS = 100

/** Event emitted on a response that a shutdown is about to cut off: the last chance to send an error. */
export const CUT_OFF = 'patchbayCutOff'
/** Time allowed for sending these errors. */
const LAST_WORDS_MS = 500

/** Tells the client that the connection accepts no further requests, unless the response has already started. */
const announceEnd = (socket: Socket): void => {
  const response = findResponse(socket)
  if (response?.headersSent === false) response.setHeader('connection', 'close')
}

/**
 * Tracks a server's connections. Call it before the server listens. Returns a function that calls `close` to stop
 * listening and resolves when the last connection has closed. After `maxMs`, it emits CUT_OFF on the responses in
 * progress and soon closes their connections.
 */
export const createDrain = (server: Server) => {
  const sockets = trackConnections(server)
  const sweep = (): void => {
    server.closeIdleConnections()
    // Node does not consider a connection idle if it has sent nothing, and browsers open spare connections.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  return async (close: () => Promise<unknown>, maxMs: number): Promise<void> => {
    const closed = close()
    for (const socket of sockets) announceEnd(socket)
    const sweeps = setInterval(sweep, SWEEP_MS)
    let deadline = setTimeout(() => {
      deadline = setTimeout(() => server.closeAllConnections(), LAST_WORDS_MS)
      for (const socket of sockets) findResponse(socket)?.emit(CUT_OFF)
    }, maxMs)
    try {
      await closed
    } finally {
      clearInterval(sweeps)
      clearTimeout(deadline)
    }
  }
}
