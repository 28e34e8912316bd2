import type { JsonObject } from '../../lib/kernel/json.ts'

/**
 * `error`: a widely used client rejects the tool, or every request that includes it. `warning`: some clients or
 * services reject, truncate or misread it, it leads models to choose badly, or models see a secret. `hint`: the tool
 * could be better.
 */
export const LINT_LEVELS = ['error', 'warning', 'hint'] as const
export type LintLevel = (typeof LINT_LEVELS)[number]

/** What a finding is about. `tools` means all tools of the server together. */
export const LINT_FIELDS = [
  'name',
  'description',
  'headers',
  'body',
  'parameters',
  'inputSchema',
  'outputSchema',
  'cost',
  'tools',
] as const
export type LintField = (typeof LINT_FIELDS)[number]

/** Advisory only: nothing is rejected because of it. */
export type Finding = {
  /** Identifies the check, such as `array-without-items`. Stays the same when the wording of the message changes. */
  rule: string
  level: LintLevel
  field: LintField
  parameter?: string | undefined
  /** Location in the schema, as a JSON Pointer (RFC 6901). The root is ''. */
  at?: string | undefined
  message: string
  remedy: string
  /** Clients and services known to be affected. Empty if every model is affected. */
  clients: readonly string[]
}

/** A tool as clients see it. */
export type ShownTool = {
  name: string
  description?: string | undefined
  inputSchema: JsonObject
  outputSchema?: JsonObject | undefined
}

export const CLAUDE = 'Claude'
export const CLAUDE_CODE = 'Claude Code'
export const CURSOR = 'Cursor'
export const GEMINI = 'Gemini'
export const OPENAI = 'OpenAI'
export const VS_CODE = 'VS Code'
