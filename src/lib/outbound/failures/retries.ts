import { LRUCache } from 'lru-cache'
import type { OutboundFault } from '../outbound-fault.ts'
import { OutboundError, type OutboundRequest, type OutboundResponse } from '../outbound-request.ts'
import type { AttemptOutcome } from '../request-trace.ts'
import { readRetryAfter } from './retry-after.ts'

const STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** Failures to connect, or of the connection. Names that do not resolve stay so for longer than a retry waits. */
const FAULTS: ReadonlySet<OutboundFault> = new Set(['refused', 'reset', 'connect_timeout', 'unreachable'])

/** Longest pause before the first retry, doubled before each further one. */
const FIRST_PAUSE_MS = 200
/** Requests that pay for one retry, so that an origin gets at most a fifth more requests. */
const PRICE = 5
/** Retries that an origin has before its first requests have paid for them: as many as one call can make. */
const ADVANCE = 3
/** Retries that can be saved up, so that a failure after a long time without one causes no burst. */
const MAX_SAVED = 20
/** Maximum number of organizations and origins with a budget. Those not used for longest start again. */
const MAX_BUDGETS = 1_000

/** How an attempt ended. */
export type Outcome = { response: OutboundResponse } | { error: unknown }

export const toAttemptOutcome = (outcome: Outcome): AttemptOutcome => {
  if ('response' in outcome) return { status: outcome.response.status }
  return outcome.error instanceof OutboundError ? { fault: outcome.error.fault } : {}
}

const isTemporary = (outcome: Outcome): boolean => {
  if ('response' in outcome) return STATUSES.has(outcome.response.status)
  return outcome.error instanceof OutboundError && FAULTS.has(outcome.error.fault)
}

/**
 * Returns how long to wait before the next attempt, or undefined if it would not help. The pause is partly random, so
 * that calls that failed together do not come back together, and no shorter than the API asks for.
 */
export const pauseMsBefore = (retry: number, outcome: Outcome): number | undefined => {
  if (!isTemporary(outcome)) return undefined
  const longestMs = FIRST_PAUSE_MS * 2 ** retry
  const pauseMs = longestMs * (0.5 + Math.random() / 2)
  return 'response' in outcome ? Math.max(pauseMs, readRetryAfter(outcome.response)) : pauseMs
}

type Budget = { saved: number; owed: number }

/**
 * Counts the requests of each organization at an origin that may be retried, so that retries add at most a fifth to
 * them: an API that is overloaded must not get several times the requests. The first 15 pay for three retries in
 * advance.
 */
export const createRetryBudgets = () => {
  const budgets = new LRUCache<string, Budget>({ maxSize: MAX_BUDGETS, sizeCalculation: () => 1 })

  return {
    /** Counts a request. Returns a function that takes a retry out of the budget, or returns false if it is used up. */
    countRequest: (organizationId: string | undefined, origin: string): (() => boolean) => {
      const key = `${organizationId ?? ''} ${origin}`
      const budget = budgets.get(key) ?? { saved: ADVANCE * PRICE, owed: ADVANCE * PRICE }
      budgets.set(key, budget)
      if (budget.owed > 0) budget.owed--
      else budget.saved = Math.min(budget.saved + 1, MAX_SAVED * PRICE)
      return () => {
        if (budget.saved < PRICE) return false
        budget.saved -= PRICE
        return true
      }
    },
  }
}

/** Waits, or until the signal aborts. */
export const pause = (ms: number, signal: OutboundRequest['signal']): Promise<void> =>
  new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms).unref()
    signal?.addEventListener('abort', end, { once: true })
  })
