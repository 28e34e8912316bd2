import type { buildConnector } from 'undici'
import { type ConnectionPool, createConnectionPool } from './connection-pool.ts'

/** Origins whose connections are kept at once; above it the one unused for longest loses its idle connections. */
const MAX_ORIGINS = 256

export type ConnectionPoolsOptions = {
  connector: buildConnector.connector
  maxSockets: number
  maxHeaderBytes: number
  bodyIdleMs: number
}

type Entry = { pool: ConnectionPool; usedAt: number }

/** The pools of all origins. One that has no connection left is let go by itself. */
export const createConnectionPools = (options: ConnectionPoolsOptions) => {
  const pools = new Map<string, Entry>()
  let uses = 0

  const makeRoom = (): void => {
    if (pools.size < MAX_ORIGINS) return
    // Those with calls under way stay: how many there are is bounded by the calls.
    const unused = [...pools].filter(([, { pool }]) => pool.isIdle())
    const [oldest] = unused.sort(([, one], [, other]) => one.usedAt - other.usedAt)
    if (oldest === undefined) return
    const [origin, { pool }] = oldest
    pools.delete(origin)
    void pool.close()
  }

  const add = (origin: string): Entry => {
    makeRoom()
    const letGo = (): void => {
      if (pools.get(origin) === entry) pools.delete(origin)
    }
    const entry: Entry = { pool: createConnectionPool({ ...options, origin, onEmpty: letGo }), usedAt: 0 }
    pools.set(origin, entry)
    return entry
  }

  return {
    /** The pool of an origin; ask again for each request, since an empty one is let go. */
    get: (origin: string): ConnectionPool => {
      const entry = pools.get(origin) ?? add(origin)
      entry.usedAt = ++uses
      return entry.pool
    },
    close: async (): Promise<void> => {
      await Promise.all([...pools.values()].map(({ pool }) => pool.close()))
      pools.clear()
    },
  }
}

export type ConnectionPools = ReturnType<typeof createConnectionPools>
