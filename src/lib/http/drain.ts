import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How often idle connections are closed during a shutdown. */
const SWEEP_MS = 100

const isResponse = (value: unknown): value is Pick<ServerResponse, 'headersSent' | 'setHeader'> =>
  typeof value === 'object' && value !== null && 'headersSent' in value && 'setHeader' in value

/** Returns the socket's current response, from a property internal to Node: undefined if there is none. */
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
 * Tracks the connections of a server that is not listening yet. Returns a function that drains them: `close` stops
 * listening and resolves with the last connection; requests in progress have `maxMs` before they are cut.
 */
export const createDrain = (server: Server) => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    // A socket whose upgrade was not handled is announced again.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const sweep = (): void => {
    server.closeIdleConnections()
    // Node counts a connection that never sent anything, such as a browser's spare one, as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  return async (close: () => Promise<void>, maxMs: number): Promise<void> => {
    const closed = close()
    for (const socket of sockets) announceEnd(socket)
    const sweeps = setInterval(sweep, SWEEP_MS)
    const deadline = setTimeout(() => server.closeAllConnections(), maxMs)
    try {
      await closed
    } finally {
      clearInterval(sweeps)
      clearTimeout(deadline)
    }
  }
}
