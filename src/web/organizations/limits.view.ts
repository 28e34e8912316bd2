import { shownTime } from '../../lib/http/pages/time-text.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import type { LimitScope } from '../../limits/limit.ts'
import type { LimitInUse } from '../../limits/limits.service.ts'
import { WARNING_SHARE } from '../../limits/meters.ts'

const EACH: Readonly<Record<LimitScope, string>> = {
  organization: 'The whole organization',
  server: 'Each server',
  tool: 'Each tool',
  user: 'Each user',
  token: 'Each token or application',
}
const ONLY: Readonly<Record<LimitScope, string>> = {
  organization: '',
  server: 'Server',
  tool: 'Tool',
  user: 'User',
  token: 'Token',
}

/** Describes the amount of a limit, such as "60 calls per minute". Money has no unit, because Patchbay does not know the currency. */
const amountText = ({ unit, period, amount }: Pick<LimitInUse, 'unit' | 'period' | 'amount'>): string => {
  const shown = formatNumber(amount)
  if (unit === 'money') return `Price of ${shown} per ${period}`
  const noun = unit === 'calls' ? (amount === 1 ? 'call' : 'calls') : 'model tokens'
  return `${shown} ${noun} per ${period}`
}

const targetText = ({ scope, target }: Pick<LimitInUse, 'scope' | 'target'>): string =>
  target === undefined ? EACH[scope] : `${ONLY[scope]} ${target.name ?? '(deleted)'}`

const stateOf = (share: number) => {
  if (share >= 1) return { text: 'Reached', state: 'failed' }
  return share >= WARNING_SHARE ? { text: 'Nearly reached', state: 'slow' } : undefined
}

/** Returns a row of the table of limits. `used` is the largest use in the current period. */
export const toLimitRow = (path: string, limit: LimitInUse) => {
  const [largest] = limit.uses
  // In a minute, processes may together take shares of more than the limit, but do not use the excess.
  const used = Math.min(largest?.amount ?? 0, limit.period === 'minute' ? limit.amount : Number.POSITIVE_INFINITY)
  const whose = limit.target === undefined && largest?.target !== undefined ? (largest.target.name ?? 'deleted') : ''
  return {
    path: `${path}/${limit.id}`,
    amount: amountText(limit),
    target: targetText(limit),
    use: `${limit.isEstimated ? 'about ' : ''}${formatNumber(used)} of ${formatNumber(limit.amount)}`,
    whose,
    share: Math.min(1, used / limit.amount),
    state: stateOf(used / limit.amount),
    resets: shownTime(limit.resetsAt),
  }
}

/** Options for the unit and period of a limit. */
export const COUNT_OPTIONS = [
  { value: 'calls minute', text: 'Calls per minute' },
  { value: 'calls day', text: 'Calls per day' },
  { value: 'calls month', text: 'Calls per month' },
  { value: 'tokens day', text: 'Model tokens per day (estimated)' },
  { value: 'tokens month', text: 'Model tokens per month (estimated)' },
  { value: 'money day', text: 'Price of the calls per day' },
  { value: 'money month', text: 'Price of the calls per month' },
]

type Named = { id: string; name: string }

/** Returns the options for the scope and target of a limit. */
export const targetOptions = (servers: readonly Named[], users: readonly Named[]) => [
  ...Object.entries(EACH).map(([value, text]) => ({ value, text })),
  ...servers.map(({ id, name }) => ({ value: `server ${id}`, text: `${ONLY.server} ${name}` })),
  ...users.map(({ id, name }) => ({ value: `user ${id}`, text: `${ONLY.user} ${name}` })),
]
