import type { RawSqlite } from '../../lib/db/sqlite.ts'
import { toTimeText } from '../../lib/db/sqlite-time.ts'
import { type CallSums, SUM_AMOUNTS, SUM_KEY } from './call-sums.ts'

const quote = (names: readonly string[]): string => names.map(name => `"${name}"`).join(', ')

const ADD_TO_CALL_SUM = `
  INSERT INTO "CallSum" (${quote([...SUM_KEY, ...SUM_AMOUNTS, 'createdAt', 'updatedAt'])})
  VALUES (${[...SUM_KEY, ...SUM_AMOUNTS].map(() => '?').join(', ')}, ?, ?)
  ON CONFLICT (${quote(SUM_KEY)}) DO UPDATE SET
    ${SUM_AMOUNTS.map(name => `"${name}" = "${name}" + excluded."${name}"`).join(', ')},
    "updatedAt" = excluded."updatedAt"`

/** Creates a function that adds to the stored sums. `now` in milliseconds since the epoch. */
export const createSqliteSums = (db: RawSqlite) => {
  const add = db.prepare(ADD_TO_CALL_SUM)
  return (sums: CallSums, now: number): void => {
    const time = toTimeText(now)
    for (const [serverId, seconds, startsAt, ...rest] of sums.list(now)) {
      add.run(serverId, seconds, toTimeText(startsAt), ...rest, time, time)
    }
  }
}
