import { z } from 'zod'
import { LINT_FIELDS, LINT_LEVELS } from './lint/finding.ts'

/** What speaks against a tool, or against all of a server. */
export const FindingView = z.object({
  rule: z.string().describe('which check found it: stays the same when the words change'),
  level: z
    .enum(LINT_LEVELS)
    .describe(
      'error: a client in use refuses it; warning: some do, or models choose badly by it; hint: could be better',
    ),
  field: z.enum(LINT_FIELDS).describe('what it is about; tools: all of a server together'),
  parameter: z.string().nullable(),
  at: z.string().nullable().describe('the place in the schema, as a JSON Pointer'),
  message: z.string(),
  remedy: z.string(),
  clients: z.array(z.string()).describe('clients known to mind; none where any model would'),
})

export const ToolLintView = z.object({
  encoding: z.string().describe('what the tokens were counted by'),
  tokens: z.int().describe('of name, description and input schema, where every parameter is asked of the model'),
  findings: z.array(FindingView).describe('the worst first; advice: nothing is refused because of them'),
})
