import { type buildConnector, Client, errors } from 'undici'
import { MAX_RESPONSE_HEADER_BYTES } from '../kernel/limits.ts'

/**
 * Maximum number of origins with open connections. When it is reached, the idle connections of the least recently used
 * origin are closed.
 */
const MAX_ORIGINS = 256
/** Idle timeout of connections, shorter than that of common servers (5 s). */
const KEEP_ALIVE_MS = 4_000
/** Longest idle timeout that a server's Keep-Alive header can set. */
const MAX_KEEP_ALIVE_MS = 60_000

/** One socket to an origin, opened on first use. It carries one request at a time. */
export type Connection = {
  readonly client: Client
  isOpen: boolean
  isIdle: boolean
  /** Number of complete responses on the open socket. Above 0, the server may have closed the socket unnoticed. */
  responses: number
}

/** A request that needs a connection. Unless it is forgotten before, `useConnection` or `fail` is called once. */
export type PendingRequest = { useConnection: (connection: Connection) => void; fail: (error: Error) => void }

export type ConnectionPoolsOptions = {
  /** Opens the sockets. */
  connector: buildConnector.connector
  /** Per origin. */
  maxSockets: number
}

/**
 * Creates the pool of one origin. It prefers the most recently used connection and starts pending requests in order.
 * undici's own pool uses more CPU (ADR 15).
 */
const createConnectionPool = (
  origin: string,
  { connector, maxSockets }: ConnectionPoolsOptions,
  onEmpty: () => void,
) => {
  const connections = new Set<Connection>()
  const idle: Connection[] = []
  const pending = new Set<PendingRequest>()
  let isClosed = false

  const open = (): Connection => {
    const client = new Client(origin, {
      connect: connector,
      allowH2: false,
      useMilo: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      // Callers set their own timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const connection: Connection = { client, isOpen: false, isIdle: false, responses: 0 }
    client.on('connect', () => {
      connection.isOpen = true
    })
    client.on('disconnect', () => {
      connection.isOpen = false
      connection.responses = 0
      if (connection.isIdle && !isClosed) discard(connection)
    })
    connections.add(connection)
    return connection
  }

  const startNext = (connection: Connection): void => {
    const [next] = pending
    if (next === undefined) return
    pending.delete(next)
    // Deferred to a microtask, because undici is still cleaning up after the previous response.
    queueMicrotask(() => next.useConnection(connection))
  }

  const discard = (connection: Connection): void => {
    if (!connections.delete(connection)) return
    if (connection.isIdle) idle.splice(idle.indexOf(connection), 1)
    connection.isIdle = false
    void connection.client.destroy()
    if (pending.size > 0) startNext(open())
    else if (connections.size === 0) onEmpty()
  }

  return {
    /** Starts a request, immediately if a connection is available. */
    acquire: (request: PendingRequest): void => {
      const reused = idle.pop()
      if (reused !== undefined) reused.isIdle = false
      const connection = reused ?? (connections.size < maxSockets ? open() : undefined)
      if (connection === undefined) pending.add(request)
      else request.useConnection(connection)
    },
    /** Removes a pending request that no longer needs a connection. */
    forget: (request: PendingRequest): void => {
      pending.delete(request)
    },
    /** Puts a reusable connection back into the pool. */
    release: (connection: Connection): void => {
      if (!connection.isOpen || isClosed) discard(connection)
      else if (pending.size > 0) startNext(connection)
      else {
        connection.isIdle = true
        idle.push(connection)
      }
    },
    /** Removes a connection that cannot be reused. */
    discard,
    isIdle: (): boolean => idle.length === connections.size && pending.size === 0,
    /** Closes all connections and fails all requests. */
    close: async (): Promise<void> => {
      const error = new errors.ClientDestroyedError()
      isClosed = true
      for (const request of pending) request.fail(error)
      pending.clear()
      idle.length = 0
      await Promise.all([...connections].map(({ client }) => client.destroy(error)))
      connections.clear()
    },
  }
}

export type ConnectionPool = ReturnType<typeof createConnectionPool>

/** Creates the connection pools, one per origin. A pool without connections is removed. */
export const createConnectionPools = (options: ConnectionPoolsOptions) => {
  const pools = new Map<string, { pool: ConnectionPool; usedAt: number }>()
  let uses = 0
  let isClosed = false

  const makeRoom = (): void => {
    if (pools.size < MAX_ORIGINS) return
    // Pools in use are kept. Their number is limited by the number of requests.
    const unused = [...pools].filter(([, { pool }]) => pool.isIdle())
    const [oldest] = unused.sort(([, one], [, other]) => one.usedAt - other.usedAt)
    if (oldest === undefined) return
    const [origin, { pool }] = oldest
    pools.delete(origin)
    void pool.close()
  }

  const add = (origin: string) => {
    makeRoom()
    const remove = (): void => {
      if (pools.get(origin) === entry) pools.delete(origin)
    }
    const entry = { pool: createConnectionPool(origin, options, remove), usedAt: 0 }
    pools.set(origin, entry)
    return entry
  }

  return {
    /**
     * Returns the pool of an origin, or undefined after `close`. Empty pools are removed, so call it for each request.
     */
    get: (origin: string): ConnectionPool | undefined => {
      if (isClosed) return undefined
      const entry = pools.get(origin) ?? add(origin)
      entry.usedAt = ++uses
      return entry.pool
    },
    /** Closes all connections and fails all requests. */
    close: async (): Promise<void> => {
      isClosed = true
      await Promise.all([...pools.values()].map(({ pool }) => pool.close()))
      pools.clear()
    },
  }
}
