export { lintAlike, lintWhoReadsAlike } from './alike.ts'
export { lintCatalogue } from './costs.ts'
export { type Finding, LINT_FIELDS, LINT_LEVELS, type LintField, type LintLevel, type ShownTool } from './finding.ts'
export { lintTool, sortFindings } from './lint-tool.ts'
