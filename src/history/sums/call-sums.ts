import { type CallResult, resultOfRow } from '../call-result.ts'
import type { ExecutionRow } from '../execution-row.ts'
import { isNameKnown } from '../tool-day-sums.ts'
import {
  addAmounts,
  addOneCall,
  addTokensOf,
  type CallAmounts,
  noAmounts,
  problemOf,
  type SummedTokens,
} from './amounts.ts'
import { DURATION_COLUMNS } from './durations.ts'

/** Each call of a server is summed once by each of these, in every period. */
export type SummedBy = 'result' | 'tool' | 'caller' | 'client'

/** Lengths of the periods of sums, in seconds. */
export const MINUTE = 60
export const HOUR = 3_600
export const DAY = 86_400
export type Period = typeof MINUTE | typeof HOUR | typeof DAY

/** How long the sums of each period are stored, in milliseconds. */
export const KEPT_MS: Readonly<Record<Period, number>> = {
  [MINUTE]: 48 * HOUR * 1_000,
  [HOUR]: 400 * DAY * 1_000,
  [DAY]: 800 * DAY * 1_000,
}
const PERIODS = [MINUTE, HOUR, DAY] as const

/** A recorded call, as far as it is summed. `startedAt` in milliseconds since the epoch. */
export type SummedCall = {
  serverId: string
  instanceId: string | null
  tool: string
  userId: string | null
  client: string | null
  startedAt: number
  durationMs: number
  outcome: string
  status: number | null
  result: CallResult | null
}

export const toSummedCall = (row: ExecutionRow): SummedCall => {
  const [, serverId, instanceId, tool, userId, client, startedAt, durationMs, outcome, status, , , , , result] = row
  return { serverId, instanceId, tool, userId, client, startedAt, durationMs, outcome, status, result }
}

/** Columns of a sum, in the order of `CallSumRow`. All but the key are added to the sum that is already stored. */
export const SUM_KEY = ['serverId', 'seconds', 'startsAt', 'by', 'value'] as const
export const SUM_AMOUNTS = [
  'calls',
  'rejected',
  'failed',
  'counted',
  'tokensSent',
  'tokensBefore',
  ...DURATION_COLUMNS,
] as const

/** `startsAt` in milliseconds since the epoch. The amounts are in the order of `SUM_AMOUNTS`. */
export type CallSumRow = readonly [
  serverId: string,
  seconds: Period,
  startsAt: number,
  by: SummedBy,
  value: string,
  ...amounts: number[],
]

type SumKey = { serverId: string; startsAt: number; by: SummedBy; value: string }
type Sum = SumKey & CallAmounts

/** Returns the name of a client without its version. */
export const nameOfClient = (client: string): string => client.replace(/\/[^/]*$/, '')

/** The value for the clients of a server that are too many to be summed one by one. */
const OTHER_CLIENTS = '…'
/** Most clients of a server that are summed one by one, per day and process, because clients choose their names. */
const MAX_CLIENTS = 100

/** Creates a function that returns a client's name, or `OTHER_CLIENTS` once a server has had too many on a day. */
export const createClientNames = () => {
  let day = 0
  let known = new Map<string, Set<string>>()
  return ({ serverId, client, startedAt }: SummedCall & { client: string }): string => {
    const today = Math.floor(startedAt / (DAY * 1_000))
    if (today > day) {
      day = today
      known = new Map()
    }
    const name = nameOfClient(client)
    const names = known.get(serverId) ?? new Set()
    known.set(serverId, names)
    if (names.size < MAX_CLIENTS) names.add(name)
    return names.has(name) ? name : OTHER_CLIENTS
  }
}
export type ClientNames = ReturnType<typeof createClientNames>

/** Lists the values that a call is summed by. The name of an unknown tool is whatever the caller sent. */
const valuesOf = (call: SummedCall, nameOf: ClientNames): [SummedBy, string][] => {
  const { tool, userId, client, status } = call
  const result = resultOfRow(call)
  const values: [SummedBy, string][] = [['result', status === null ? result : `${result} ${status}`]]
  if (tool !== '' && isNameKnown(call)) values.push(['tool', tool])
  if (userId !== null) values.push(['caller', userId])
  if (client !== null) values.push(['client', nameOf({ ...call, client })])
  return values
}

const findOrAdd = (sums: Map<string, Sum>, key: SumKey): Sum => {
  const text = `${key.serverId} ${key.by} ${key.startsAt} ${key.value}`
  const sum = sums.get(text) ?? { ...key, ...noAmounts() }
  sums.set(text, sum)
  return sum
}

const startOf = (time: number, seconds: Period): number => time - (time % (seconds * 1_000))

/** Adds up shorter periods. */
const toLonger = (sums: Iterable<Sum>, seconds: Period): Map<string, Sum> => {
  const longer = new Map<string, Sum>()
  for (const sum of sums) {
    const { serverId, by, value, startsAt } = sum
    addAmounts(findOrAdd(longer, { serverId, by, value, startsAt: startOf(startsAt, seconds) }), sum)
  }
  return longer
}

const toRow = (sum: Sum, seconds: Period): CallSumRow => {
  const { serverId, startsAt, by, value, calls, rejected, failed, counted, tokensSent, tokensBefore, histogram } = sum
  const amounts = [calls, rejected, failed, counted, tokensSent, tokensBefore, ...histogram]
  return [serverId, seconds, startsAt, by, value, ...amounts]
}

/** Creates the sums for the calls of one batch. */
export const createCallSums = (nameOf: ClientNames) => {
  const minutes = new Map<string, Sum>()
  const addTo = (call: SummedCall, add: (sum: Sum) => void): void => {
    const startsAt = startOf(call.startedAt, MINUTE)
    for (const [by, value] of valuesOf(call, nameOf)) {
      add(findOrAdd(minutes, { serverId: call.serverId, by, value, startsAt }))
    }
  }
  return {
    /** Adds a new call, and its tokens if they have been counted. */
    addCall: (call: SummedCall, tokens: SummedTokens | undefined): void => {
      const problem = problemOf(call)
      addTo(call, sum => {
        addOneCall(sum, call.durationMs, problem)
        if (tokens !== undefined) addTokensOf(sum, tokens)
      })
    },
    /** Adds the tokens of a call that was added before. */
    addTokens: (call: SummedCall, tokens: SummedTokens): void => addTo(call, sum => addTokensOf(sum, tokens)),
    /**
     * Returns the sums of all periods that are still stored at this time, in milliseconds since the epoch. They are in
     * the order of their keys, so that processes which write at the same time wait for each other in the same order.
     */
    list: (now: number): CallSumRow[] => {
      const hours = toLonger(minutes.values(), HOUR)
      const days = toLonger(hours.values(), DAY)
      const sums: Record<Period, Map<string, Sum>> = { [MINUTE]: minutes, [HOUR]: hours, [DAY]: days }
      return PERIODS.flatMap(seconds =>
        [...sums[seconds]]
          .filter(([, { startsAt }]) => startsAt > now - KEPT_MS[seconds])
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([, sum]) => toRow(sum, seconds)),
      )
    },
  }
}
export type CallSums = ReturnType<typeof createCallSums>
