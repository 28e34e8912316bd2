import { z } from 'zod'
import { FindingView } from '../../tools/findings.schema.ts'
import { LISTED_PRESENTATIONS } from '../../tools/lint/catalogue-report.ts'

export const ServerLintView = z.object({
  findings: z.array(FindingView).describe('of the whole list that clients get'),
  tools: z
    .array(z.object({ name: z.string(), findings: z.array(FindingView) }))
    .describe('tools with findings, each by itself, by name; those of upstreams among them'),
})

export const ServerTokensView = z.object({
  encoding: z.string().describe('what the tokens were counted by'),
  presentation: z.string().describe('the one that the server has'),
  shownAs: z
    .enum(LISTED_PRESENTATIONS)
    .nullable()
    .describe('the list that clients get: what auto comes to; null where requests are passed on'),
  presentations: z
    .array(
      z.object({
        presentation: z.enum(LISTED_PRESENTATIONS),
        tools: z.int(),
        tokens: z.int().describe('of the tools in tools/list, all pages together, as they go out'),
        bytes: z.int(),
      }),
    )
    .describe('what clients would be listed under each'),
  tools: z.array(z.object({ name: z.string(), tokens: z.int() })).describe('each by itself, as a flat list has it'),
})
