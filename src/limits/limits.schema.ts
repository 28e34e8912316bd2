import { z } from 'zod'
import { readOnlyField, readOnlyTimes } from '../lib/http/pages/read-only.ts'
import { absentable, orNull, timeSchema } from '../lib/http/schemas.ts'
import { LIMIT_SCOPES, LIMIT_UNITS, MONEY_SCALE } from './limit.ts'
import { LIMIT_PERIODS } from './period.ts'

/** Largest amount of calls, tokens or money. A sum of such amounts is still an exact number. */
const MAX_AMOUNT = 1_000_000_000
const AMOUNT_RULE = 'must be a number from 0.000001 to 1,000,000,000'
const WHOLE_RULE = 'must be a whole number, unless the unit is money'

const amount = z
  .number(AMOUNT_RULE)
  .min(1 / MONEY_SCALE, AMOUNT_RULE)
  .max(MAX_AMOUNT, AMOUNT_RULE)
  .describe('calls, tokens, or the currency of the prices')

/** Returns why an amount does not fit the unit, or undefined. */
export const findAmountFault = (unit: string, value: number): string | undefined =>
  unit === 'money' || Number.isInteger(value) ? undefined : WHOLE_RULE

export const CreateLimit = z
  .strictObject({
    scope: z
      .enum(LIMIT_SCOPES)
      .describe('whether the limit is for the whole organization, or for each server, tool, user or token'),
    targetId: absentable(z.uuid()).describe(
      'the only server, tool, user or access token that it applies to; default: each one has the whole amount for itself',
    ),
    unit: z.enum(LIMIT_UNITS).describe('`money`: the sum of the prices of the called tools (`callPrice`)'),
    period: z.enum(LIMIT_PERIODS).describe('in UTC; only calls can be limited per minute'),
    amount,
  })
  .superRefine(({ scope, targetId, unit, period, amount }, { addIssue }) => {
    const add = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message })
    const fault = findAmountFault(unit, amount)
    if (fault !== undefined) add('amount', fault)
    if (scope === 'organization' && targetId !== undefined) add('targetId', 'must be left out for an organization')
    if (period === 'minute' && unit !== 'calls') add('period', 'must be day or month, unless the unit is calls')
  })

export const UpdateLimit = z.strictObject({
  id: readOnlyField,
  scope: readOnlyField,
  target: readOnlyField,
  unit: readOnlyField,
  period: readOnlyField,
  uses: readOnlyField,
  resetsAt: readOnlyField,
  isEstimated: readOnlyField,
  ...readOnlyTimes,
  amount: amount.optional(),
})

const Target = z.object({ id: z.string(), name: orNull(z.string()).describe('null if it has been deleted') })

export const LimitView = z
  .object({
    id: z.uuid(),
    scope: z.enum(LIMIT_SCOPES),
    target: orNull(Target).describe('null if each one has the whole amount for itself, and for an organization'),
    unit: z.enum(LIMIT_UNITS),
    period: z.enum(LIMIT_PERIODS),
    amount: z.number(),
    isEstimated: z.boolean().describe('whether the uses are estimates, as tokens are'),
    uses: z
      .array(z.object({ target: orNull(Target), amount: z.number() }))
      .describe('the largest uses in the current period; of a minute, replicas take tenths before they use them'),
    resetsAt: timeSchema.describe('when the next period begins'),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'Limit' })
