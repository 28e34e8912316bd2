import type { JsonObject } from '../../lib/kernel/json.ts'

/**
 * `error`: a client that is in use refuses the tool, or every request that holds it. `warning`: some clients or services
 * refuse, cut or misread it, or models choose badly with it. `hint`: it could be better.
 */
export const LINT_LEVELS = ['error', 'warning', 'hint'] as const
export type LintLevel = (typeof LINT_LEVELS)[number]

/** What a finding is about; `tools`: all of a server together. */
export const LINT_FIELDS = [
  'name',
  'description',
  'parameters',
  'inputSchema',
  'outputSchema',
  'cost',
  'tools',
] as const
export type LintField = (typeof LINT_FIELDS)[number]

/** Advice: nothing is refused because of it. */
export type Finding = {
  /** Which check found it, such as `array-without-items`: stays the same when the words change. */
  rule: string
  level: LintLevel
  field: LintField
  /** The parameter that it is in, where it is in one. */
  parameter?: string | undefined
  /** The place in the schema, as a JSON Pointer (RFC 6901); '' is the whole. */
  at?: string | undefined
  /** What is wrong, and for whom: a sentence. */
  message: string
  /** How to mend it: a sentence. */
  remedy: string
  /** Clients and services known to mind; none where any model would. */
  clients: readonly string[]
}

/** A tool as clients are shown it. */
export type ShownTool = {
  name: string
  description?: string | undefined
  inputSchema: JsonObject
  outputSchema?: JsonObject | undefined
}

/** Names of clients, as findings tell them. */
export const CLAUDE = 'Claude'
export const CLAUDE_CODE = 'Claude Code'
export const CURSOR = 'Cursor'
export const GEMINI = 'Gemini'
export const OPENAI = 'OpenAI'
export const VS_CODE = 'VS Code'
