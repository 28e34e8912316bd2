import { z } from 'zod'
import { orNull } from '../lib/http/schemas.ts'
import { LINT_FIELDS, LINT_LEVELS } from './lint/finding.ts'

/** A problem found in a tool, or in a server's tools as a whole. */
export const FindingView = z.object({
  rule: z.string().describe('identifies the check; stays the same when the wording changes'),
  level: z
    .enum(LINT_LEVELS)
    .describe(
      'error: a widely used client rejects it; warning: some clients reject it, models choose badly because of it, or models see a secret; hint: could be better',
    ),
  field: z.enum(LINT_FIELDS).describe('the part of the tool it is about; tools: all tools of the server together'),
  parameter: orNull(z.string()),
  at: orNull(z.string()).describe('location in the schema, as a JSON Pointer'),
  message: z.string(),
  remedy: z.string(),
  clients: z.array(z.string()).describe('clients known to be affected; empty if it affects every model'),
})

export const ToolLintView = z.object({
  encoding: z.string().describe('the encoding used to count tokens'),
  tokens: z.int().describe('tokens of the name, description and input schema with every parameter from the model'),
  findings: z.array(FindingView).describe('most severe first; advisory only, so nothing is rejected because of them'),
})
