import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How often connections that nothing is under way on are closed while a stop waits for the others. */
const SWEEP_MS = 100
/** Where Node keeps the response that a connection waits for; were it to move, the sweep would still close it. */
const CURRENT_RESPONSE = '_httpMessage'

const isResponse = (value: unknown): value is Pick<ServerResponse, 'headersSent' | 'setHeader'> =>
  typeof value === 'object' && value !== null && 'headersSent' in value && 'setHeader' in value

/** Lets the client know, where its answer has not begun, that there is no second request on this connection. */
const announceEnd = (socket: Socket): void => {
  const response: unknown = Reflect.get(socket, CURRENT_RESPONSE)
  if (isResponse(response) && !response.headersSent) response.setHeader('connection', 'close')
}

/**
 * Watches the connections of a server that does not listen yet, and answers what ends them in order: `close` stops
 * listening and resolves with the last connection; requests under way have `maxMs`, then they are cut.
 */
export const createDrain = (server: Server) => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    // One whose wish for another protocol was not heard comes once more.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const sweep = (): void => {
    server.closeIdleConnections()
    // Node takes a connection that has never said anything, such as a browser's spare one, for busy.
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
