/** Reads and writes Patchbay's SQLite file directly, where the API would take too long. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import Database from 'better-sqlite3'

type Row = Record<string, string | number | bigint | Buffer | null>

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null
const rowsOf = (values: readonly unknown[]): Row[] => values.filter(isRow)

const createInsert = (database: Database.Database, table: string, row: Row) => {
  const columns = Object.keys(row)
  const names = columns.map(column => `"${column}"`).join(', ')
  const insert = database.prepare(`INSERT INTO "${table}" (${names}) VALUES (${columns.map(() => '?').join(', ')})`)
  return (change: Row) => {
    const made = { ...row, ...change }
    return insert.run(columns.map(column => made[column]))
  }
}

/** Creates ascending ids like version 7 UUIDs. Random ids would spread the inserts over the whole index. */
const createIds = () => {
  const prefix = `${randomUUID().slice(0, 8)}-0000-7000-8000-`
  let count = 0
  return () => prefix + (++count).toString(16).padStart(12, '0')
}

const BATCH = 1_000
const HOUR_MS = 60 * 60 * 1_000

/**
 * Copies a server `count` times with its toolkits and instances, and returns the ids of the copies. No other process
 * may have the database open during this time.
 */
export const copyServer = (file: string, uuid: string, count: number): string[] => {
  const database = new Database(file)
  database.pragma('foreign_keys = ON')
  database.pragma('synchronous = OFF')
  const nextId = createIds()
  const [server] = rowsOf(database.prepare('SELECT * FROM "Server" WHERE "id" = ?').all(uuid))
  if (server === undefined) throw new Error(`no server ${uuid} in ${file}`)
  const insertServer = createInsert(database, 'Server', server)
  const insertParts = ['ToolkitUse', 'Instance'].flatMap(table =>
    rowsOf(database.prepare(`SELECT * FROM "${table}" WHERE "serverId" = ?`).all(uuid)).map(row =>
      createInsert(database, table, row),
    ),
  )
  const uuids: string[] = []
  const insertBatch = database.transaction((size: number) => {
    for (let index = 0; index < size; index++) {
      const copy = randomUUID()
      uuids.push(copy)
      insertServer({ id: copy, name: `${server.name} ${uuids.length}` })
      for (const insert of insertParts) insert({ id: nextId(), serverId: copy })
    }
  })
  for (let left = count; left > 0; left -= BATCH) insertBatch(Math.min(left, BATCH))
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  return uuids
}

/** Returns the number of calls in the history and the number of calls that it reports as missing. */
export const countHistory = (file: string): { recorded: number; missing: number } => {
  const database = new Database(file, { readonly: true })
  const count = (query: string): number => Number(database.prepare(query).pluck().get() ?? 0)
  const counts = {
    recorded: count('SELECT count(*) FROM "Execution"'),
    missing: count('SELECT coalesce(sum("missing"), 0) FROM "ExecutionGap"'),
  }
  database.close()
  return counts
}

/** Adds an OAuth access token for this user and server to the database of a running Patchbay, and returns it. */
export const addAccessToken = (file: string, holder: { email: string; serverId: string; resource: string }): string => {
  const database = new Database(file)
  const userId = String(database.prepare('SELECT "id" FROM "User" WHERE "email" = ?').pluck().get(holder.email))
  const token = randomBytes(32).toString('base64url')
  const endsAt = Date.now() + HOUR_MS
  const at = new Date().toISOString()
  const clientId = 'https://client.example.test/metadata.json'
  const payload = {
    accountId: userId,
    clientId,
    grantId: 'benchmark',
    aud: holder.resource,
    scope: 'mcp:read mcp:call',
    exp: Math.floor(endsAt / 1_000),
  }
  createInsert(database, 'OAuthArtifact', {
    id: randomUUID(),
    kind: 'AccessToken',
    handleHash: createHash('sha256').update(token).digest('hex'),
    payload: JSON.stringify(payload),
    grantId: 'benchmark',
    userId,
    clientId,
    serverId: holder.serverId,
    expiresAt: new Date(endsAt).toISOString(),
    createdAt: at,
    updatedAt: at,
  })({})
  database.close()
  return token
}
