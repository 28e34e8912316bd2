import { z } from 'zod'

const NO_DAY = 'is no day such as 2026-11-22'
/** Nothing was counted before. */
const FIRST_DAY = '2020-01-01'
const day = z.iso.date(NO_DAY).refine(text => text >= FIRST_DAY, NO_DAY)

export const CallTokensQuery = z.object({
  from: day.optional().describe('the first day, of UTC; left out: 29 days before the last'),
  to: day.optional().describe('the last day; left out: today'),
})

const sums = {
  calls: z.int().describe('to tools, that were recorded'),
  counted: z.int().describe('those of them whose tokens were counted: all sums are of these'),
  tokensBefore: z.int().describe('what would have been sent, had nothing been left out'),
  tokensSent: z.int(),
  tokensSaved: z
    .int()
    .describe('the difference; below 0 where answers that were cut before cost more to go on from than is cut now'),
}

export const CallTokensView = z.object({
  encoding: z.string().describe('what the tokens were counted by'),
  from: z.iso.date(),
  to: z.iso.date(),
  ...sums,
  days: z.array(z.object({ day: z.iso.date(), ...sums })).describe('those with calls, the oldest first'),
  tools: z
    .array(z.object({ tool: z.string(), ...sums }))
    .describe('by the name at the time of the call, the one that most was saved of first'),
})
