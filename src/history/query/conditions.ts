import { join, type Sql, sqltag as sql } from '@prisma/client/runtime/client'
import type { OpenBodies } from '../bodies/call-bodies.ts'
import type { CallResult } from '../call-result.ts'
import type { CallScope, ExecutionFilters, OrganizationScope } from './execution-filters.ts'

/**
 * Conditions that select calls. An index serves `base` and the time: it reads the calls in the order of time. `rest` and
 * the search text only pick among them, so they are checked on a bounded number of calls at a time.
 */
export type Selection = {
  base: Sql
  from: Date | undefined
  to: Date | undefined
  rest: Sql | undefined
  q: string | undefined
  /** Decrypts bodies to search them for `q`. */
  openBodies: OpenBodies
}

const NEVER = sql`1 = 0`

export const allOf = (conditions: readonly Sql[]): Sql => join([...conditions], ' AND ')
export const anyOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? NEVER : join([...conditions], ' OR ', '(', ')')

export const among = (column: Sql, values: readonly string[]): Sql =>
  values.length === 0 ? NEVER : sql`${column} IN (${join([...values])})`

/** As an expression, so that no index of the column is used: the calls are read in the order of time. */
const SERVER = sql`("serverId" || '')`

const IS_REFUSAL = sql`COALESCE("status", 0) BETWEEN 400 AND 499`

/** Selects calls with this result, and those from before results were recorded from which it follows. */
const endedWith = (result: CallResult): Sql => {
  // The column is an enum on PostgreSQL and a text on SQLite.
  const isRecorded = sql`CAST("result" AS TEXT) = ${result}`
  switch (result) {
    case 'success':
      return sql`"outcome" = 'ok'`
    case 'rejected':
      return sql`(${isRecorded} OR ("result" IS NULL AND "outcome" = 'error' AND ${IS_REFUSAL}))`
    case 'failed':
      return sql`(${isRecorded} OR ("result" IS NULL AND "outcome" = 'error' AND NOT (${IS_REFUSAL})))`
    default:
      return isRecorded
  }
}

const calledBy = (caller: string | null): Sql => (caller === null ? sql`"userId" IS NULL` : sql`"userId" = ${caller}`)

/** Selects calls of a client, in all its versions if the name has none. */
const calledFrom = (client: string): Sql => {
  const start = `${client}/`
  return sql`("client" = ${client} OR SUBSTR("client", 1, ${[...start].length}) = ${start})`
}

const seenIn = ({ serverIds, ownServerIds, readerId }: OrganizationScope): Sql =>
  anyOf([
    ...(serverIds.length === 0 ? [] : [among(SERVER, serverIds)]),
    ...(ownServerIds.length === 0 ? [] : [sql`(${among(SERVER, ownServerIds)} AND "userId" = ${readerId})`]),
  ])

/** Returns the user whose calls the reader may see on a server; for all users, undefined. Returns undefined if none. */
const reachOn = (scope: CallScope, serverId: string): { userId: string | undefined } | undefined => {
  if ('serverId' in scope) return scope.serverId === serverId ? { userId: scope.callerId } : undefined
  if (scope.serverIds.includes(serverId)) return { userId: undefined }
  return scope.ownServerIds.includes(serverId) ? { userId: scope.readerId } : undefined
}

type Conditions = { base: Sql[]; rest: Sql[] }

/** Selects the calls of one server, or of one caller on it. */
const onServer = (scope: CallScope, serverId: string, callers: ExecutionFilters['caller']): Conditions => {
  const reach = reachOn(scope, serverId)
  if (reach === undefined) return { base: [NEVER], rest: [] }
  const [first] = callers ?? []
  const only = callers?.length === 1 && typeof first === 'string' ? first : undefined
  const userId = reach.userId ?? only
  return {
    base: [sql`"serverId" = ${serverId}`, ...(userId === undefined ? [] : [sql`"userId" = ${userId}`])],
    rest: callers === undefined || (only !== undefined && userId === only) ? [] : [anyOf(callers.map(calledBy))],
  }
}

const whereAndWho = (scope: CallScope, { server: servers, caller: callers }: ExecutionFilters): Conditions => {
  if ('serverId' in scope) {
    const { base, rest } = onServer(scope, scope.serverId, callers)
    return { base: servers === undefined || servers.includes(scope.serverId) ? base : [NEVER], rest }
  }
  const [server] = servers ?? []
  if (server !== undefined && servers?.length === 1) return onServer(scope, server, callers)
  return {
    base: [sql`"organizationId" = ${scope.organizationId}`],
    rest: [
      seenIn(scope),
      ...(servers === undefined ? [] : [among(SERVER, servers)]),
      ...(callers === undefined ? [] : [anyOf(callers.map(calledBy))]),
    ],
  }
}

/** Returns the conditions for the calls of a scope that match all filters. */
export const selectionOf = (scope: CallScope, filters: ExecutionFilters, openBodies: OpenBodies): Selection => {
  const { tool, result, outcome, status, client, instanceId, from, to, q } = filters
  const { base, rest } = whereAndWho(scope, filters)
  if (tool !== undefined) rest.push(among(sql`"tool"`, tool))
  if (instanceId !== undefined) rest.push(sql`"instanceId" = ${instanceId}`)
  if (outcome !== undefined) rest.push(outcome === 'ok' ? sql`"outcome" = 'ok'` : sql`"outcome" = 'error'`)
  if (result !== undefined) rest.push(anyOf(result.map(endedWith)))
  if (status !== undefined) {
    rest.push(anyOf(status.map(({ first, last }) => sql`"status" BETWEEN ${first} AND ${last}`)))
  }
  if (client !== undefined) rest.push(anyOf(client.map(calledFrom)))
  return { base: allOf(base), from, to, rest: rest.length === 0 ? undefined : allOf(rest), q, openBodies }
}
