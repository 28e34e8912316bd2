import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

export type DatabaseProxy = {
  /** DATABASE_URL of the database, through the proxy. */
  url: string
  /** Closes all connections and refuses new ones. */
  refuse: () => Promise<void>
  /** Keeps all connections open and accepts new ones, but passes nothing on. */
  freeze: () => Promise<void>
  /** Passes nothing on for the connections that are open, but accepts new ones, as after a failover. */
  loseConnections: () => void
  restore: () => Promise<void>
  close: () => Promise<void>
}

/** Starts a TCP proxy in front of a PostgreSQL server, with which a test makes the database unreachable. */
export const startDatabaseProxy = async (databaseUrl: string): Promise<DatabaseProxy> => {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const hold = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    return socket
  }
  const server = createServer(client => {
    hold(client)
    if (isFrozen) return
    const upstream = hold(connect(Number(target.port), target.hostname))
    client.pipe(upstream).pipe(client)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
  })
  const port = await freePort()
  const listen = async (): Promise<void> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen()
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  const refuse = async (): Promise<void> => {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url: url.href,
    refuse,
    freeze: async () => {
      isFrozen = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    loseConnections: () => {
      for (const socket of sockets) socket.unpipe().pause()
    },
    restore: async () => {
      isFrozen = false
      // Connections that were frozen never recover, as after a lost network.
      for (const socket of sockets) socket.destroy()
      if (!server.listening) await listen()
    },
    close: refuse,
  }
}
