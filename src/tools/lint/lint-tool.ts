import { lintCost } from './costs.ts'
import { lintDescription, lintParameters } from './descriptions.ts'
import { type Finding, LINT_LEVELS, type ShownTool } from './finding.ts'
import { lintName } from './names.ts'
import { lintInputSchema, lintOutputSchema } from './schemas.ts'

/** What is known about the tool from its server or toolkit. */
export type LintContext = {
  /** The name that clients use for its server. */
  serverName?: string | undefined
  /** Cost of the tool in tokens, once counted. */
  tokens?: number | undefined
  /** The finding that another tool of the catalogue is similar to it. */
  similar?: Finding | undefined
}

/** Sorts by severity, most severe first. Findings of one level stay in reading order. */
export const sortFindings = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => LINT_LEVELS.indexOf(a.level) - LINT_LEVELS.indexOf(b.level))

/** Returns the known problems of a tool as clients and models see it. Takes linear time. */
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
