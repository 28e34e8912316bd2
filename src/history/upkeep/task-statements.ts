import { DAY, HOUR, KEPT_MS, MINUTE, type SummedBy } from '../sums/call-sums.ts'
import { type RemovedCalls, TASK_ROWS } from './history-tasks.ts'

/** A statement that deletes at most `TASK_ROWS` rows. Times are in milliseconds since the epoch. */
export type Removal = { text: string; values: (string | number)[] }

/** SQL that differs between the databases. `row` identifies a row, also in tables without an id. */
export type Dialect = {
  parameter: (position: number) => string
  time: (parameter: string) => string
  row: string
}

const SUMMED_BY: readonly SummedBy[] = ['result', 'tool', 'caller', 'client']

const removeRows = (table: string, row: string, condition: string): string =>
  `DELETE FROM "${table}" WHERE ${row} IN (SELECT ${row} FROM "${table}" WHERE ${condition} LIMIT ${TASK_ROWS})`

export const createRemovals = ({ parameter, time, row }: Dialect) => ({
  calls: (calls: RemovedCalls): Removal =>
    'serverId' in calls
      ? { text: removeRows('Execution', '"id"', `"serverId" = ${parameter(1)}`), values: [calls.serverId] }
      : {
          text: removeRows(
            'Execution',
            '"id"',
            `"organizationId" = ${parameter(1)} AND "startedAt" <= ${time(parameter(2))} ORDER BY "startedAt"`,
          ),
          values: [calls.organizationId, calls.until.getTime()],
        },
  sums: (serverId: string): Removal => ({
    text: removeRows('CallSum', row, `"serverId" = ${parameter(1)}`),
    values: [serverId],
  }),
  /** A statement for each period and kind of sum, as the index is ordered. */
  oldSums: (serverId: string, now: Date): Removal[] =>
    ([MINUTE, HOUR, DAY] as const).flatMap(seconds =>
      SUMMED_BY.map(by => ({
        text: removeRows(
          'CallSum',
          row,
          `"serverId" = ${parameter(1)} AND "seconds" = ${seconds} AND "by" = '${by}' AND "startsAt" <= ${time(parameter(2))}`,
        ),
        values: [serverId, now.getTime() - KEPT_MS[seconds]],
      })),
    ),
})
