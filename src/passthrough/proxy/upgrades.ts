import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A request for a protocol upgrade. Until the upgrade, it can receive a response like any other request. */
export type Upgrade = {
  incoming: IncomingMessage
  raw: ServerResponse
  socket: Socket
  /** The first bytes of the new protocol, if any. */
  head: Buffer
  /** Ignores the upgrade (RFC 9110 §7.8): parses the request again, with its body, and handles it like any other. */
  ignore: () => void
}

const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings'])

const withoutUpgrade = (connection: string): string =>
  connection
    .split(',')
    .map(option => option.trim())
    .filter(option => !UPGRADE_HEADERS.has(option.toLowerCase()))
    .join(', ')

/** Rebuilds the head of the request without the upgrade headers. */
const buildHead = ({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const given = rawHeaders[at + 1] ?? ''
    const value = name.toLowerCase() === 'connection' ? withoutUpgrade(given) : given
    if (!UPGRADE_HEADERS.has(name.toLowerCase()) && (value !== '' || given === '')) lines.push(`${name}: ${value}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

export const listenForUpgrades = (server: Server, serve: (upgrade: Upgrade) => void): void => {
  server.on('upgrade', (incoming, socket, head) => {
    if (!(socket instanceof Socket)) {
      socket.destroy()
      return
    }
    // Ignores the error, because the 'close' event that follows is handled.
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
