import { z } from 'zod'

const DAY_RULE = 'must be a date such as 2026-11-22'
/** Token counts do not go back further. */
const FIRST_DAY = '2020-01-01'
const day = z.iso.date(DAY_RULE).refine(text => text >= FIRST_DAY, DAY_RULE)

export const CallTokensQuery = z.object({
  from: day.optional().describe('first day (UTC); default: 29 days before the last'),
  to: day.optional().describe('last day (UTC); default: today'),
})

const sums = {
  calls: z.int().describe('recorded tool calls'),
  counted: z.int().describe('calls whose tokens were counted; the sums cover only these'),
  estimated: z.int().describe('counted calls whose tokens were estimated, as for long results'),
  tokensBefore: z.int().describe('tokens of the results before anything was left out'),
  tokensSent: z.int(),
  tokensSaved: z
    .int()
    .describe('the difference; negative if continuing from earlier cut results cost more than was saved'),
}

export const CallTokensView = z.object({
  encoding: z.string().describe('the encoding used to count tokens'),
  from: z.iso.date(),
  to: z.iso.date(),
  ...sums,
  days: z.array(z.object({ day: z.iso.date(), ...sums })).describe('days with calls, oldest first'),
  tools: z
    .array(z.object({ tool: z.string(), ...sums }))
    .describe('by name at the time of the call, most tokens saved first'),
})
