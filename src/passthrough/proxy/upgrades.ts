import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A client that wants another protocol on its connection. Until it has that, it can be answered like any other. */
export type Upgrade = {
  incoming: IncomingMessage
  raw: ServerResponse
  socket: Socket
  /** What the client has said in the new protocol already. */
  head: Buffer
  /** Takes the wish for unsaid (RFC 9110 §7.8): the request is read anew, with its body, and answered like any other. */
  ignore: () => void
}

/** Fields that belong to the wish. */
const OF_WISH: ReadonlySet<string> = new Set(['upgrade', 'http2-settings'])

const withoutWish = (connection: string): string =>
  connection
    .split(',')
    .map(option => option.trim())
    .filter(option => !OF_WISH.has(option.toLowerCase()))
    .join(', ')

/** The head of the request as it came, but for the wish. */
const buildHead = ({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const given = rawHeaders[at + 1] ?? ''
    const value = name.toLowerCase() === 'connection' ? withoutWish(given) : given
    if (!OF_WISH.has(name.toLowerCase()) && (value !== '' || given === '')) lines.push(`${name}: ${value}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Hears of clients that want another protocol. */
export const listenForUpgrades = (server: Server, serve: (upgrade: Upgrade) => void): void => {
  server.on('upgrade', (incoming, socket, head) => {
    if (!(socket instanceof Socket)) {
      socket.destroy()
      return
    }
    // What becomes of it is told by its end.
    const pass = (): void => {}
    socket.on('error', pass)
    const raw = new ServerResponse(incoming)
    raw.shouldKeepAlive = false
    raw.assignSocket(socket)
    raw.on('finish', () => socket.end())
    const ignore = (): void => {
      raw.detachSocket(socket)
      socket.off('error', pass)
      socket.unshift(Buffer.concat([buildHead(incoming), head]))
      server.emit('connection', socket)
    }
    serve({ incoming, raw, socket, head, ignore })
  })
}
