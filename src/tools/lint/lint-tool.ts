import { lintCost } from './costs.ts'
import { lintDescription, lintParameters } from './descriptions.ts'
import { type Finding, LINT_LEVELS, type ShownTool } from './finding.ts'
import { lintName } from './names.ts'
import { lintInputSchema, lintOutputSchema } from './schemas.ts'

/** Context from the tool's server or toolkit. */
export type LintContext = {
  /** The name that clients use for the tool's server. */
  serverName?: string | undefined
  /** Cost of the tool in tokens, once it has been counted. */
  tokens?: number | undefined
  /** The finding that another tool in the catalogue is similar. */
  similar?: Finding | undefined
}

/** Sorts by severity, most severe first. Findings of the same level keep their order. */
export const sortFindings = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => LINT_LEVELS.indexOf(a.level) - LINT_LEVELS.indexOf(b.level))

/** Returns the known problems with a tool as clients and models see it. Takes linear time. */
export const lintTool = (tool: ShownTool, { serverName, tokens, similar }: LintContext = {}): Finding[] =>
  sortFindings([
    ...lintName(tool.name, serverName),
    ...lintDescription(tool),
    ...(similar === undefined ? [] : [similar]),
    ...lintParameters(tool),
    ...lintInputSchema(tool.inputSchema),
    ...(tool.outputSchema === undefined ? [] : lintOutputSchema(tool.outputSchema)),
    ...(tokens === undefined ? [] : lintCost(tokens)),
  ])
