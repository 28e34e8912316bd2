import { z } from 'zod'
import type { Database } from './client.ts'
import { PROCESS_NAME } from './process-name.ts'

/** Returns the size of the database on disk in bytes. On SQLite, the size excludes the journal. */
export const measureDatabase = async (db: Database): Promise<number> => {
  const [row] =
    db.kind === 'sqlite'
      ? await db.$queryRaw<{ bytes: bigint }[]>`
          SELECT page_count * page_size AS "bytes" FROM pragma_page_count(), pragma_page_size()`
      : await db.$queryRaw<{ bytes: bigint }[]>`SELECT pg_database_size(current_database()) AS "bytes"`
  return Number(row?.bytes ?? 0)
}

const ProcessRow = z.object({ name: z.string(), since: z.date(), connections: z.coerce.number() })

/** A process that is connected to the database now. */
export type ConnectedProcess = {
  version: string
  pid: string
  host: string
  /** When its oldest connection was opened. */
  since: Date
  connections: number
}

/** Lists the processes that are connected to the PostgreSQL database. Undefined on SQLite, which does not know them. */
export const listConnectedProcesses = async (db: Database): Promise<ConnectedProcess[] | undefined> => {
  if (db.kind === 'sqlite') return undefined
  const rows = await db.$queryRaw`
    SELECT application_name AS "name", MIN(backend_start) AS "since", COUNT(*) AS "connections" FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'patchbay/%' GROUP BY 1 ORDER BY 1`
  return z
    .array(ProcessRow)
    .parse(rows)
    .flatMap(({ name, since, connections }) => {
      const [, version = '', pid = '', host = ''] = PROCESS_NAME.exec(name) ?? []
      return version === '' ? [] : [{ version, pid, host, since, connections }]
    })
}
