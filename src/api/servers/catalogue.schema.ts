import { z } from 'zod'
import { FindingView } from '../../tools/findings.schema.ts'
import { LISTED_PRESENTATIONS } from '../../tools/lint/catalogue-report.ts'

export const ServerLintView = z.object({
  findings: z.array(FindingView).describe('problems of the whole list that clients get'),
  tools: z
    .array(z.object({ name: z.string(), findings: z.array(FindingView) }))
    .describe('tools with findings, by name, including tools of upstreams'),
})

export const ServerTokensView = z.object({
  encoding: z.string().describe('the encoding used to count tokens'),
  presentation: z.string().describe('the presentation set on the server'),
  shownAs: z
    .enum(LISTED_PRESENTATIONS)
    .nullable()
    .describe('the list that clients get, also for auto; null for a passthrough server'),
  presentations: z
    .array(
      z.object({
        presentation: z.enum(LISTED_PRESENTATIONS),
        tools: z.int(),
        tokens: z.int().describe('tokens of tools/list, all pages together, as sent'),
        bytes: z.int(),
      }),
    )
    .describe('the list under each presentation'),
  tools: z.array(z.object({ name: z.string(), tokens: z.int() })).describe('each tool as in the flat list'),
})
