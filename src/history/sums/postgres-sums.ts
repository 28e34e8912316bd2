import type { Client } from 'pg'
import { type CallSums, SUM_AMOUNTS, SUM_KEY } from './call-sums.ts'

export const NOW = `now() AT TIME ZONE 'UTC'`
/** Converts milliseconds since the epoch. */
export const toTime = (value: string): string => `to_timestamp((${value})::float8 / 1000) AT TIME ZONE 'UTC'`

const quote = (names: readonly string[]): string => names.map(name => `"${name}"`).join(', ')

/** Adds rows of type `CallSumRow` to the stored sums. The rows are sorted, which prevents deadlocks between processes. */
const ADD_TO_CALL_SUMS = {
  name: 'add-to-call-sums',
  text: `
    INSERT INTO "CallSum" (${quote([...SUM_KEY, ...SUM_AMOUNTS, 'createdAt', 'updatedAt'])})
    SELECT fields->>0, (fields->>1)::int, ${toTime('fields->>2')}, (fields->>3)::"SummedBy", fields->>4,
      ${SUM_AMOUNTS.map((_, index) => `(fields->>${SUM_KEY.length + index})::bigint`).join(', ')}, ${NOW}, ${NOW}
    FROM jsonb_array_elements($1::jsonb) AS item(fields)
    ON CONFLICT (${quote(SUM_KEY)}) DO UPDATE SET
      ${SUM_AMOUNTS.map(name => `"${name}" = "CallSum"."${name}" + excluded."${name}"`).join(', ')},
      "updatedAt" = excluded."updatedAt"`,
}

/** Adds to the stored sums, in the transaction of the client. `now` in milliseconds since the epoch. */
export const storePostgresSums = async (client: Client, sums: CallSums, now: number): Promise<void> => {
  const rows = sums.list(now)
  if (rows.length > 0) await client.query({ ...ADD_TO_CALL_SUMS, values: [JSON.stringify(rows)] })
}
