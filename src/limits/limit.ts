import { formatNumber } from '../lib/kernel/format.ts'
import type { LimitPeriod } from './period.ts'

export const LIMIT_SCOPES = ['organization', 'server', 'tool', 'user', 'token'] as const
export type LimitScope = (typeof LIMIT_SCOPES)[number]

export const LIMIT_UNITS = ['calls', 'tokens', 'money'] as const
export type LimitUnit = (typeof LIMIT_UNITS)[number]

/** The most that the tool calls of an organization may use in each minute, day or month. */
export type Limit = {
  id: string
  organizationId: string
  scope: LimitScope
  /** The only server, tool, user or token that it applies to. Undefined: each one has the whole amount for itself. */
  targetId: string | undefined
  unit: LimitUnit
  period: LimitPeriod
  /** Calls, tokens, or millionths of the currency. */
  amount: number
  createdAt: Date
  updatedAt: Date
}

/** Money is counted in millionths, so that sums of small prices stay exact. */
export const MONEY_SCALE = 1_000_000

/** Converts an amount to the integer that is stored. */
export const toStoredAmount = (unit: LimitUnit, amount: number): number =>
  unit === 'money' ? Math.round(amount * MONEY_SCALE) : amount

/** Converts a stored amount to calls, tokens or the currency. */
export const fromStoredAmount = (unit: LimitUnit, amount: number): number =>
  unit === 'money' ? amount / MONEY_SCALE : amount

const SCOPE_SUBJECTS: Readonly<Record<LimitScope, string>> = {
  organization: 'this organization',
  server: 'this server',
  tool: 'this tool',
  user: 'this user',
  token: 'this token',
}

/** Describes an amount and its period, such as "60 calls per minute". */
export const describeAmount = ({ unit, period, amount }: Pick<Limit, 'unit' | 'period' | 'amount'>): string => {
  const shown = formatNumber(fromStoredAmount(unit, amount))
  switch (unit) {
    case 'calls':
      return `${shown} ${amount === 1 ? 'call' : 'calls'} per ${period}`
    case 'tokens':
      return `${shown} model tokens per ${period} (estimated)`
    case 'money':
      return `a total price of ${shown} per ${period}`
  }
}

/** A call that may not start because a limit is reached. */
export type LimitRefusal = { limit: Limit; retryAfterSeconds: number }

const describeWait = (seconds: number): string => {
  if (seconds < 120) return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 120) return `${minutes} minutes`
  const hours = Math.ceil(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.ceil(hours / 24)} days`
}

/** Tells the model, or the user of a client, which limit is reached and when to try again. */
export const explainRefusal = ({ limit, retryAfterSeconds }: LimitRefusal): string =>
  `Limit reached: ${describeAmount(limit)} for ${SCOPE_SUBJECTS[limit.scope]}. Try again in ${describeWait(retryAfterSeconds)}.`
