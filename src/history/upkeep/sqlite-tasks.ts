import type { RawSqlite } from '../../lib/db/sqlite.ts'
import { toTimeText } from '../../lib/db/sqlite-time.ts'
import { storedTokens } from '../sums/amounts.ts'
import { type ClientNames, createCallSums, type SummedCall } from '../sums/call-sums.ts'
import { createSqliteSums } from '../sums/sqlite-sums.ts'
import { type HistoryTask, type Place, TASK_ROWS, type TaskResult } from './history-tasks.ts'
import { createRemovals, type Removal } from './task-statements.ts'

const REMOVALS = createRemovals({ parameter: () => '?', time: parameter => parameter, row: 'rowid' })

type UnfilledCall = Omit<SummedCall, 'startedAt'> & {
  id: string
  startedAt: string
  tokensSent: number | null
  tokensBefore: number | null
  organizationId: string
}

const LIST_UNFILLED = `
  SELECT "call"."id", "call"."serverId", "instanceId", "tool", "userId", "client", "startedAt", "durationMs", "outcome",
    "status", "result", "tokensSent", "tokensBefore", "Server"."organizationId"
  FROM "Execution" AS "call" JOIN "Server" ON "Server"."id" = "call"."serverId"
  WHERE "call"."organizationId" IS NULL ORDER BY "startedAt" DESC LIMIT ${TASK_ROWS}`

const LIST_PLACES = `SELECT "startedAt", "id" FROM "Execution"
  WHERE "serverId" = ? AND ("startedAt", "id") > (?, ?) ORDER BY "startedAt", "id" LIMIT ${TASK_ROWS}`

/** Calls without an organization are left to `fill`, which also adds them to the sums. */
const MOVE = `UPDATE "Execution" SET "organizationId" = (SELECT "organizationId" FROM "Server" WHERE "id" = ?)
  WHERE "serverId" = ? AND ("startedAt", "id") > (?, ?) AND ("startedAt", "id") <= (?, ?) AND "organizationId" IS NOT NULL`

const FIND_LIMIT = `SELECT "startedAt" FROM "Execution" WHERE "organizationId" = ?
  ORDER BY "startedAt" DESC, "id" DESC LIMIT 1 OFFSET ?`

/** Creates a function that does a batch of a task over the recorder's connection. */
export const createSqliteTasks = (db: RawSqlite, clientNames: ClientNames): ((task: HistoryTask) => TaskResult) => {
  const storeSums = createSqliteSums(db)
  const listUnfilled = db.prepare<[], UnfilledCall>(LIST_UNFILLED)
  const fillOne = db.prepare('UPDATE "Execution" SET "organizationId" = ? WHERE "id" = ?')
  const listPlaces = db.prepare<[string, string, string], [string, string]>(LIST_PLACES).raw()
  const moveSome = db.prepare(MOVE)
  const findLimit = db.prepare<[string, number], string>(FIND_LIMIT).pluck()

  const fill = db.transaction((): TaskResult => {
    const calls = listUnfilled.all()
    const sums = createCallSums(clientNames)
    for (const call of calls) {
      fillOne.run(call.organizationId, call.id)
      sums.addCall({ ...call, startedAt: Date.parse(call.startedAt) }, storedTokens(call))
    }
    storeSums(sums, Date.now())
    return { isDone: calls.length < TASK_ROWS }
  })

  const move = (serverId: string, after: Place = ['', '']): TaskResult => {
    const places = listPlaces.all(serverId, ...after)
    const last = places.at(-1)
    if (last !== undefined) moveSome.run(serverId, serverId, ...after, ...last)
    return { isDone: places.length < TASK_ROWS, last }
  }

  const remove = ({ text, values }: Removal): boolean => {
    const times = values.map(value => (typeof value === 'number' ? toTimeText(value) : value))
    return db.prepare(text).run(times).changes < TASK_ROWS
  }

  return task => {
    switch (task.kind) {
      case 'fill':
        return fill.immediate()
      case 'move':
        return move(task.serverId, task.after)
      case 'find_limit': {
        const time = findLimit.get(task.organizationId, task.keep)
        return { isDone: true, found: time === undefined ? undefined : Date.parse(time) }
      }
      case 'remove_calls':
        return { isDone: remove(REMOVALS.calls(task.calls)) }
      case 'remove_sums':
        return { isDone: remove(REMOVALS.sums(task.serverId)) }
      case 'remove_old_sums':
        // All are run, also those after one that is not done.
        return {
          isDone: REMOVALS.oldSums(task.serverId, task.now)
            .map(remove)
            .every(isDone => isDone),
        }
    }
  }
}
