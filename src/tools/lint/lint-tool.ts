import { lintCost } from './costs.ts'
import { type Finding, LINT_LEVELS, type ShownTool } from './finding.ts'
import { lintName } from './names.ts'
import { lintInputSchema, lintOutputSchema } from './schemas.ts'
import { lintDescription, lintParameters } from './texts.ts'

/** What is known besides of where the tool is. */
export type LintContext = {
  /** What clients call its server. */
  serverName?: string | undefined
  /** What it costs, once that is counted. */
  tokens?: number | undefined
  /** What speaks for another of the same catalogue being taken for it. */
  alike?: Finding | undefined
}

/** The worst first; of one level as a tool is read. */
export const sortFindings = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => LINT_LEVELS.indexOf(a.level) - LINT_LEVELS.indexOf(b.level))

/** Everything that is known to speak against a tool as clients and models are shown it. Pure; linear in its size. */
export const lintTool = (tool: ShownTool, { serverName, tokens, alike }: LintContext = {}): Finding[] =>
  sortFindings([
    ...lintName(tool.name, serverName),
    ...lintDescription(tool),
    ...(alike === undefined ? [] : [alike]),
    ...lintParameters(tool),
    ...lintInputSchema(tool.inputSchema),
    ...(tool.outputSchema === undefined ? [] : lintOutputSchema(tool.outputSchema)),
    ...(tokens === undefined ? [] : lintCost(tokens)),
  ])
