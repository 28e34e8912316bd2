import { join, type Sql, sqltag as sql } from '@prisma/client/runtime/client'
import { allOf, among, anyOf } from '../query/conditions.ts'
import type { CallScope, ExecutionFilters } from '../query/execution-filters.ts'
import type { SummedBy } from '../sums/call-sums.ts'

/** Sums to add up: of these servers, by one of `SummedBy`, for all its values or those that match. */
export type SumSelection = { serverIds: readonly string[]; by: SummedBy; values: Sql | undefined }

const VALUE = sql`"value"`
const startsWith = (text: string): Sql => sql`(${VALUE} = ${text} OR ${VALUE} LIKE ${`${text} %`})`

/** Selects values such as `success 200` and `timeout`. */
const ofResults = ({ result, outcome, status }: ExecutionFilters): Sql | undefined => {
  const conditions = [
    ...(result === undefined ? [] : [anyOf(result.map(startsWith))]),
    ...(outcome === undefined ? [] : [outcome === 'ok' ? startsWith('success') : sql`NOT ${startsWith('success')}`]),
    ...(status === undefined
      ? []
      : [
          anyOf(
            status.map(({ first, last }) => sql`${VALUE} LIKE ${`% ${first === last ? first : `${first / 100}__`}`}`),
          ),
        ]),
  ]
  return conditions.length === 0 ? undefined : allOf(conditions)
}

/** Returns the values that the filters select. Undefined if there are no sums for these filters. */
const summedBy = (filters: ExecutionFilters): Omit<SumSelection, 'serverIds'> | undefined => {
  const { tool, caller, client, instanceId, q } = filters
  const results = ofResults(filters)
  if (q !== undefined || instanceId !== undefined) return undefined
  if ([results, tool, caller, client].filter(one => one !== undefined).length > 1) return undefined
  if (tool !== undefined) return { by: 'tool', values: among(VALUE, tool) }
  if (caller !== undefined) {
    const ids = caller.filter(id => id !== null)
    // Calls without a user have no sum of their own.
    return ids.length < caller.length ? undefined : { by: 'caller', values: among(VALUE, ids) }
  }
  // The sums are for all versions of a client.
  if (client?.some(name => name.includes('/'))) return undefined
  if (client !== undefined) return { by: 'client', values: among(VALUE, client) }
  return { by: 'result', values: results }
}

/** Returns whether there are sums for these filters, so that a chart need not read the calls one by one. */
export const haveSums = (filters: ExecutionFilters): boolean => summedBy(filters) !== undefined

const chosenOf = (ids: readonly string[], { server }: ExecutionFilters): readonly string[] =>
  server === undefined ? ids : ids.filter(id => server.includes(id))

/**
 * Returns the sums that a chart of these calls adds up, or undefined if there are none for the filters. Each call is in
 * at most one of them.
 */
export const sumsFor = (scope: CallScope, filters: ExecutionFilters): SumSelection[] | undefined => {
  const summed = summedBy(filters)
  if (summed === undefined) return undefined
  const seen =
    'serverId' in scope
      ? scope.callerId === undefined
        ? { all: [scope.serverId], own: [], readerId: '' }
        : { all: [], own: [scope.serverId], readerId: scope.callerId }
      : { all: scope.serverIds, own: scope.ownServerIds, readerId: scope.readerId }
  const [all, own] = [chosenOf(seen.all, filters), chosenOf(seen.own, filters)]
  if (own.length === 0) return [{ serverIds: all, ...summed }]
  // The reader's own calls are summed by caller, so not by anything else.
  if (summed.by !== 'result' || summed.values !== undefined) return undefined
  return [
    ...(all.length === 0 ? [] : [{ serverIds: all, ...summed }]),
    { serverIds: own, by: 'caller', values: sql`${VALUE} = ${seen.readerId}` },
  ]
}

/** Selects the sums of a selection. */
export const conditionOf = ({ serverIds, by, values }: SumSelection): Sql => {
  const conditions = [among(sql`"serverId"`, serverIds), sql`"by" = ${by}`, ...(values === undefined ? [] : [values])]
  return join(conditions, ' AND ')
}
