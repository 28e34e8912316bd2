import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Returns the open connections of a server, now and later. Call it before the server listens. */
export const trackConnections = (server: Server): ReadonlySet<Socket> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    // If nothing handles an upgrade, Node emits the event again for the same socket.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

const isResponse = (value: unknown): value is Pick<ServerResponse, 'headersSent' | 'setHeader' | 'emit'> =>
  typeof value === 'object' && value !== null && 'headersSent' in value && 'setHeader' in value && 'emit' in value

/** Returns the socket's current response, if there is one, from an internal property of Node. */
export const findResponse = (socket: Socket) => {
  const response: unknown = Reflect.get(socket, '_httpMessage')
  return isResponse(response) ? response : undefined
}
