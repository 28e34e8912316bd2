import type { Client } from 'pg'
import { inTransaction } from '../in-transaction.ts'
import { storedTokens } from '../sums/amounts.ts'
import { type ClientNames, createCallSums, type SummedCall } from '../sums/call-sums.ts'
import { storePostgresSums, toTime } from '../sums/postgres-sums.ts'
import { type HistoryTask, type Place, TASK_ROWS, type TaskResult } from './history-tasks.ts'
import { createRemovals, type Removal } from './task-statements.ts'

const REMOVALS = createRemovals({ parameter: position => `$${position}`, time: toTime, row: 'ctid' })

type FilledCall = SummedCall & { tokensSent: number | null; tokensBefore: number | null }

/** Skips rows that another process is filling. */
const FILL = `
  WITH picked AS (
    SELECT "id" FROM "Execution" WHERE "organizationId" IS NULL ORDER BY "startedAt" DESC LIMIT ${TASK_ROWS}
    FOR UPDATE SKIP LOCKED
  )
  UPDATE "Execution" AS "call" SET "organizationId" = "Server"."organizationId"
  FROM picked, "Server" WHERE "call"."id" = picked."id" AND "Server"."id" = "call"."serverId"
  RETURNING "call"."serverId", "instanceId", "tool", "userId", "client",
    (extract(epoch FROM "startedAt") * 1000)::float8 AS "startedAt", "durationMs", "outcome", "status", "result",
    "tokensSent", "tokensBefore"`

const LIST_PLACES = `SELECT "startedAt"::text, "id" FROM "Execution"
  WHERE "serverId" = $1 AND ("startedAt", "id") > ($2::timestamp, $3) ORDER BY "startedAt", "id" LIMIT ${TASK_ROWS}`

/** Calls without an organization are left to `fill`, which also adds them to the sums. */
const MOVE = `UPDATE "Execution" SET "organizationId" = "Server"."organizationId" FROM "Server"
  WHERE "Server"."id" = $1 AND "serverId" = $1 AND ("startedAt", "Execution"."id") > ($2::timestamp, $3)
    AND ("startedAt", "Execution"."id") <= ($4::timestamp, $5) AND "Execution"."organizationId" IS NOT NULL`

const FIND_LIMIT = `SELECT (extract(epoch FROM "startedAt") * 1000)::float8 AS "found" FROM "Execution"
  WHERE "organizationId" = $1 ORDER BY "startedAt" DESC, "id" DESC LIMIT 1 OFFSET $2`

const fill = (client: Client, clientNames: ClientNames): Promise<TaskResult> =>
  inTransaction(client, async () => {
    const { rows } = await client.query<FilledCall>(FILL)
    const sums = createCallSums(clientNames)
    for (const call of rows) sums.addCall(call, storedTokens(call))
    await storePostgresSums(client, sums, Date.now())
    return { isDone: rows.length < TASK_ROWS }
  })

const move = async (client: Client, serverId: string, after: Place = ['-infinity', '']): Promise<TaskResult> => {
  const { rows } = await client.query<{ startedAt: string; id: string }>(LIST_PLACES, [serverId, ...after])
  const last = rows.at(-1)
  if (last === undefined) return { isDone: true }
  const place: Place = [last.startedAt, last.id]
  await client.query(MOVE, [serverId, ...after, ...place])
  return { isDone: rows.length < TASK_ROWS, last: place }
}

const remove = async (client: Client, { text, values }: Removal): Promise<boolean> =>
  ((await client.query(text, values)).rowCount ?? 0) < TASK_ROWS

/** Does a batch of a task over the recorder's connection. */
export const doPostgresTask = async (
  client: Client,
  clientNames: ClientNames,
  task: HistoryTask,
): Promise<TaskResult> => {
  switch (task.kind) {
    case 'fill':
      return fill(client, clientNames)
    case 'move':
      return move(client, task.serverId, task.after)
    case 'find_limit': {
      const { rows } = await client.query<{ found: number }>(FIND_LIMIT, [task.organizationId, task.keep])
      return { isDone: true, found: rows[0]?.found }
    }
    case 'remove_calls':
      return { isDone: await remove(client, REMOVALS.calls(task.calls)) }
    case 'remove_sums':
      return { isDone: await remove(client, REMOVALS.sums(task.serverId)) }
    case 'remove_old_sums': {
      let isDone = true
      for (const removal of REMOVALS.oldSums(task.serverId, task.now))
        isDone = (await remove(client, removal)) && isDone
      return { isDone }
    }
  }
}
