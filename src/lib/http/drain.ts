import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Interval at which a shutdown closes connections that have become idle. */
const SWEEP_MS = 100

/** Event of a response that is about to be cut off by a shutdown: the last chance to send an error. */
export const CUT_OFF = 'patchbayCutOff'
/** Time for sending these errors. */
const LAST_WORDS_MS = 500

const isResponse = (value: unknown): value is Pick<ServerResponse, 'headersSent' | 'setHeader' | 'emit'> =>
  typeof value === 'object' && value !== null && 'headersSent' in value && 'setHeader' in value && 'emit' in value

/** Returns the socket's current response, if any, from a property internal to Node. */
export const findResponse = (socket: Socket) => {
  const response: unknown = Reflect.get(socket, '_httpMessage')
  return isResponse(response) ? response : undefined
}

/** Tells the client that the connection accepts no further requests, if the response has not started. */
const announceEnd = (socket: Socket): void => {
  const response = findResponse(socket)
  if (response?.headersSent === false) response.setHeader('connection', 'close')
}

/**
 * Tracks a server's connections; call it before the server listens. Returns a function that drains them: `close` stops
 * listening and resolves when the last connection has closed; after `maxMs`, requests in progress are cut off, which
 * their responses learn by CUT_OFF.
 */
export const createDrain = (server: Server) => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    // If an upgrade is not handled, the event repeats for the same socket.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const sweep = (): void => {
    server.closeIdleConnections()
    // Node does not count a connection that has sent nothing as idle; browsers open spare ones.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  return async (close: () => Promise<void>, maxMs: number): Promise<void> => {
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
