import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A client that wants another protocol on its connection. Until it has that, it can be answered like any other. */
export type Upgrade = {
  incoming: IncomingMessage
  raw: ServerResponse
  socket: Socket
  /** What the client has said in the new protocol already. */
  head: Buffer
}

/** Hears of clients that want another protocol. */
export const listenForUpgrades = (server: Server, serve: (upgrade: Upgrade) => void): void => {
  server.on('upgrade', (incoming, socket, head) => {
    if (!(socket instanceof Socket)) {
      socket.destroy()
      return
    }
    // What becomes of it is told by its end.
    socket.on('error', () => {})
    const raw = new ServerResponse(incoming)
    raw.shouldKeepAlive = false
    raw.assignSocket(socket)
    raw.on('finish', () => socket.end())
    serve({ incoming, raw, socket, head })
  })
}
