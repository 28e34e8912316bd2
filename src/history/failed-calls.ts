import { type CallFailedData, MAX_EVENT_ERROR_CHARACTERS } from '../outbox/call-failed.ts'
import { storedTypeOf } from '../outbox/event-types.ts'
import type { ExecutionRow } from './execution-row.ts'

/** A failed call for the outbox. `startedAt` is in milliseconds since the epoch, `data` JSON. */
export type FailedCallRow = [id: string, serverId: string, startedAt: number, data: string]

const toData = (row: ExecutionRow): CallFailedData => {
  const [executionId, serverId, , tool, userId, client, , durationMs, , status, , , error, , result] = row
  const shortError = error === null ? null : error.slice(0, MAX_EVENT_ERROR_CHARACTERS).toWellFormed()
  return { executionId, serverId, tool, result, status, error: shortError, durationMs, userId, client }
}

/** Returns the failed calls of a batch. Their events have their ids, so that a batch that is sent again adds no others. */
export const failedCallsOf = (executions: readonly ExecutionRow[]): FailedCallRow[] =>
  executions.flatMap((row): FailedCallRow[] => {
    const [id, serverId, , , , , startedAt, , outcome] = row
    return outcome === 'ok' ? [] : [[id, serverId, startedAt, JSON.stringify(toData(row))]]
  })

const COLUMNS = `"id", "organizationId", "type", "data", "happenedAt", "isDispatched", "createdAt", "updatedAt"`

const IS_CHOSEN = `"events" LIKE '%${storedTypeOf('call.failed')}%'`

/** SQL condition: somebody in the organization of the row of "Server" wants to know about failed calls. */
const IS_WANTED = `(
  EXISTS (SELECT 1 FROM "Webhook" WHERE "organizationId" = "Server"."organizationId" AND "state" = 'active' AND ${IS_CHOSEN})
  OR EXISTS (SELECT 1 FROM "Membership" JOIN "EventMail" ON "EventMail"."membershipId" = "Membership"."id"
    WHERE "Membership"."organizationId" = "Server"."organizationId" AND ${IS_CHOSEN}))`

/** Puts a failed call into the outbox if somebody wants to know. Parameters: id, data, time, now, now, server. */
export const ENTER_ON_SQLITE = `INSERT INTO "Event" (${COLUMNS})
  SELECT ?, "organizationId", 'call.failed', ?, ?, 0, ?, ? FROM "Server" WHERE "id" = ? AND ${IS_WANTED}
  ON CONFLICT DO NOTHING`

/** The same for a JSON array of rows of type `FailedCallRow`. */
export const ENTER_ON_POSTGRES = {
  name: 'enter-failed-calls',
  text: `
    INSERT INTO "Event" (${COLUMNS})
    SELECT fields->>0, "Server"."organizationId", 'call.failed', fields->>3,
      to_timestamp((fields->>2)::float8 / 1000) AT TIME ZONE 'UTC', false, now() AT TIME ZONE 'UTC', now() AT TIME ZONE 'UTC'
    FROM jsonb_array_elements($1::jsonb) AS item(fields) JOIN "Server" ON "Server"."id" = fields->>1
    WHERE ${IS_WANTED}
    ON CONFLICT DO NOTHING`,
}
