import type { buildConnector } from 'undici'
import { Client, errors } from './undici.ts'

/** One socket to an origin, opened on first use; carries one request at a time. */
export type Connection = {
  readonly client: Client
  isOpen: boolean
  isIdle: boolean
  /** Whole answers over the socket now open: above 0, the other end may have closed it unseen in the meantime. */
  answers: number
}

/** Waits for a connection. Exactly one of the two is called, unless `forget` comes first. */
export type Waiter = { start: (connection: Connection) => void; fail: (error: Error) => void }

export type ConnectionPoolOptions = {
  origin: string
  connector: buildConnector.connector
  maxSockets: number
  maxHeaderBytes: number
  bodyIdleMs: number
  /** Called whenever the last connection has gone. */
  onEmpty: () => void
}

/** A connection without a request is closed after this long: shorter than what common servers wait (5 s). */
const KEEP_ALIVE_MS = 4_000
/** The longest that a server's own Keep-Alive header can make it. */
const MAX_KEEP_ALIVE_MS = 60_000

/** The connections to one origin: at most `maxSockets`, the one used last is used first, further callers wait in order. */
export const createConnectionPool = (options: ConnectionPoolOptions) => {
  const connections = new Set<Connection>()
  const idle: Connection[] = []
  const waiting = new Set<Waiter>()
  let isClosed = false

  const open = (): Connection => {
    const client = new Client(options.origin, {
      connect: options.connector,
      allowH2: false,
      useMilo: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      maxHeaderSize: options.maxHeaderBytes,
      // The call's own time covers the wait for the headers.
      headersTimeout: 0,
      bodyTimeout: options.bodyIdleMs,
    })
    const connection: Connection = { client, isOpen: false, isIdle: false, answers: 0 }
    client.on('connect', () => {
      connection.isOpen = true
    })
    client.on('disconnect', () => {
      connection.isOpen = false
      connection.answers = 0
      if (connection.isIdle && !isClosed) discard(connection)
    })
    connections.add(connection)
    return connection
  }

  const handToNext = (connection: Connection): void => {
    const [waiter] = waiting
    if (waiter === undefined) return
    waiting.delete(waiter)
    // In a microtask, since undici is still putting away the answer before.
    queueMicrotask(() => waiter.start(connection))
  }

  const discard = (connection: Connection): void => {
    connections.delete(connection)
    if (connection.isIdle) idle.splice(idle.indexOf(connection), 1)
    connection.isIdle = false
    void connection.client.destroy()
    if (waiting.size > 0) handToNext(open())
    else if (connections.size === 0) options.onEmpty()
  }

  return {
    /** Gives the waiter a connection, at once if there is one. */
    acquire: (waiter: Waiter): void => {
      const kept = idle.pop()
      if (kept !== undefined) kept.isIdle = false
      const connection = kept ?? (connections.size < options.maxSockets ? open() : undefined)
      if (connection === undefined) waiting.add(waiter)
      else waiter.start(connection)
    },
    /** Takes back a waiter that no longer waits. */
    forget: (waiter: Waiter): void => {
      waiting.delete(waiter)
    },
    /** Gives back a connection in good order. */
    release: (connection: Connection): void => {
      if (!connection.isOpen || isClosed) discard(connection)
      else if (waiting.size > 0) handToNext(connection)
      else {
        connection.isIdle = true
        idle.push(connection)
      }
    },
    /** Gives back a connection that is of no further use. */
    discard,
    isIdle: (): boolean => idle.length === connections.size && waiting.size === 0,
    /** Ends every connection, and with it the requests under way. */
    close: async (): Promise<void> => {
      const error = new errors.ClientDestroyedError()
      isClosed = true
      for (const waiter of waiting) waiter.fail(error)
      waiting.clear()
      idle.length = 0
      await Promise.all([...connections].map(({ client }) => client.destroy(error)))
      connections.clear()
    },
  }
}

export type ConnectionPool = ReturnType<typeof createConnectionPool>
