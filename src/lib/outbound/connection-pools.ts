import { Client, errors } from 'undici'
import { MAX_RESPONSE_HEADER_BYTES } from '../kernel/limits.ts'
import { createConnectionShares, type OrganizationShare, type WaitingRequest } from './connection-shares.ts'
import type { ConnectorFor, LookupTime } from './connector.ts'

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
export type Connection = LookupTime & {
  readonly client: Client
  /** The organization of the request that uses the connection, or used it last, and who created it. */
  organizationId: string | undefined
  creatorId: string | undefined
  isOpen: boolean
  isIdle: boolean
  /** Number of complete responses on the open socket. Above 0, the server may have closed the socket unnoticed. */
  responses: number
}

/** A request that needs a connection. Unless it is forgotten before, `useConnection` or `fail` is called once. */
export type PendingRequest = WaitingRequest & { useConnection: (connection: Connection) => void }

export type ConnectionPoolsOptions = {
  /** Returns the connector that opens an organization's sockets. */
  connectorFor: ConnectorFor
  /** Per origin. */
  maxSockets: number
  /** Limits for each organization at an origin; undefined for none. */
  share: OrganizationShare | undefined
}

/**
 * Creates the pool of one origin. It prefers the most recently used connection, whichever organization used it.
 * undici's own pool uses more CPU (ADR 15).
 */
const createConnectionPool = (
  origin: string,
  { connectorFor, maxSockets, share }: ConnectionPoolsOptions,
  onEmpty: () => void,
) => {
  const connections = new Set<Connection>()
  const idle: Connection[] = []
  const shares = createConnectionShares<PendingRequest>(maxSockets, share)
  let isClosed = false

  const open = ({ organizationId, creatorId }: PendingRequest): Connection => {
    const client = new Client(origin, {
      connect: (options, callback) => connectorFor(connection.organizationId)(options, callback, connection),
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
    const connection: Connection = {
      client,
      organizationId,
      creatorId,
      isOpen: false,
      isIdle: false,
      responses: 0,
      lookupMs: 0,
    }
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

  const assign = (connection: Connection, { organizationId, creatorId }: PendingRequest): void => {
    connection.organizationId = organizationId
    connection.creatorId = creatorId
  }

  const startNext = (next: PendingRequest, connection: Connection): void => {
    assign(connection, next)
    // Deferred to a microtask, because undici is still cleaning up after the previous response.
    queueMicrotask(() => next.useConnection(connection))
  }

  const discard = (connection: Connection): void => {
    if (!connections.delete(connection)) return
    const next = connection.isIdle ? undefined : shares.finish(connection)
    if (connection.isIdle) idle.splice(idle.indexOf(connection), 1)
    connection.isIdle = false
    void connection.client.destroy()
    if (next !== undefined) startNext(next, open(next))
    else if (connections.size === 0) onEmpty()
  }

  return {
    /** Starts a request, immediately if a connection is available. */
    acquire: (request: PendingRequest): void => {
      if (!shares.tryStart(request)) {
        shares.startWaiting(request)
        return
      }
      const connection = idle.pop() ?? open(request)
      connection.isIdle = false
      assign(connection, request)
      request.useConnection(connection)
    },
    /** Removes a pending request that no longer needs a connection. */
    forget: shares.remove,
    /** Puts a reusable connection back into the pool. */
    release: (connection: Connection): void => {
      if (!connection.isOpen || isClosed) {
        discard(connection)
        return
      }
      const next = shares.finish(connection)
      if (next !== undefined) {
        startNext(next, connection)
        return
      }
      connection.isIdle = true
      idle.push(connection)
    },
    /** Removes a connection that cannot be reused. */
    discard,
    /** Whether no request uses a connection. Then none waits for one. */
    isIdle: (): boolean => idle.length === connections.size,
    /** Closes all connections and fails all requests. */
    close: async (): Promise<void> => {
      const error = new errors.ClientDestroyedError()
      isClosed = true
      shares.failAll(error)
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
