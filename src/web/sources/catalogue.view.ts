import { z } from 'zod'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { Presentation } from '../../servers/server.ts'
import { type CatalogueReport, findCatalogueFindings, findListCost } from '../../tools/lint/catalogue-report.ts'
import { type Finding, LINT_LEVELS, type LintLevel } from '../../tools/lint/finding.ts'
import { toPresentationChoices } from '../settings/presentation-form.ts'

/** Maximum findings of a rule on the page. The API returns all of them. */
const MAX_PER_RULE = 20

const LEVELS: Readonly<Record<Finding['level'], { text: string; state: string }>> = {
  error: { text: 'error', state: 'failed' },
  warning: { text: 'warning', state: 'slow' },
  hint: { text: 'hint', state: 'idle' },
}

const ORDER = Object.keys(LEVELS)

type Told = { tool: string | undefined; finding: Finding }

type HrefOf = (tool: string) => string | undefined

const toFindingRow = ({ tool, finding: { parameter, message, remedy } }: Told, hrefOf: HrefOf) => ({
  tool: tool ?? 'All tools',
  isTool: tool !== undefined,
  href: tool === undefined ? undefined : hrefOf(tool),
  parameter,
  message,
  remedy,
})

/** Writes a rule's name as words: `array-without-items` as `Array without items`. */
const ruleText = (rule: string): string => `${rule.charAt(0).toUpperCase()}${rule.slice(1).replaceAll('-', ' ')}`

/** Groups findings by rule, most severe first and then the most frequent. The first group is open. */
const toRuleGroups = (told: readonly Told[], hrefOf: HrefOf) =>
  [...Map.groupBy(told, ({ finding }) => `${finding.level} ${finding.rule}`).values()]
    .flatMap(findings => {
      const [first] = findings
      return first === undefined ? [] : [{ findings, ...first.finding }]
    })
    .sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level) || b.findings.length - a.findings.length)
    .map(({ rule, level, findings }, index) => ({
      id: `rule-${rule}-${level}`,
      text: ruleText(rule),
      level: LEVELS[level].text,
      state: LEVELS[level].state,
      count: formatNumber(findings.length),
      isOpen: index === 0,
      findings: findings.slice(0, MAX_PER_RULE).map(one => toFindingRow(one, hrefOf)),
      more: findings.length > MAX_PER_RULE ? formatNumber(findings.length - MAX_PER_RULE) : undefined,
    }))

const countOf = (told: readonly Told[], level: LintLevel): number =>
  told.filter(({ finding }) => finding.level === level).length

/** Counts the findings by level, as in "3 errors, 12 warnings, 1 hint". */
const countInWords = (told: readonly Told[]): string =>
  LINT_LEVELS.flatMap(level => {
    const count = countOf(told, level)
    return count === 0 ? [] : formatCount(count, LEVELS[level].text)
  }).join(', ')

/** Links that show the findings of one level. Only levels that have findings, and only if there are several. */
const toLevelTabs = (told: readonly Told[], chosen: LintLevel | undefined, levelPath: (level: string) => string) => {
  const levels = LINT_LEVELS.filter(level => level === chosen || countOf(told, level) > 0)
  if (levels.length < 2 && chosen === undefined) return []
  return [
    { text: 'All', count: formatNumber(told.length), href: levelPath(''), isCurrent: chosen === undefined },
    ...levels.map(level => ({
      text: `${LEVELS[level].text.charAt(0).toUpperCase()}${LEVELS[level].text.slice(1)}s`,
      count: formatNumber(countOf(told, level)),
      href: levelPath(level),
      isCurrent: level === chosen,
    })),
  ]
}

const differenceText = (tokens: number, flat: number): string => {
  if (tokens === flat) return ''
  return tokens < flat ? `${formatNumber(flat - tokens)} fewer` : `${formatNumber(tokens - flat)} more`
}

const toCostRows = (report: CatalogueReport, now: Presentation) => {
  const { costs } = report
  const texts = new Map<string, string>(toPresentationChoices(now).map(({ value, text }) => [value, text]))
  const flat = costs.find(({ presentation }) => presentation === 'flat')?.tokens ?? 0
  return costs.map(({ presentation, tools, tokens }) => ({
    text: texts.get(presentation) ?? presentation,
    isNow: presentation === findListCost(report, now)?.presentation,
    tools: formatNumber(tools),
    tokens: formatNumber(tokens),
    difference: presentation === 'flat' ? '' : differenceText(tokens, flat),
  }))
}

/** Parses the level of findings to show. Undefined for all. */
export const findingLevel = z.enum(LINT_LEVELS).optional().catch(undefined)

export type CatalogueQuery = {
  presentation: Presentation
  /** Shows only the findings of this level. */
  level?: LintLevel | undefined
  /** Returns the address of the page with the findings of one level, or of all for an empty text. */
  levelPath?: (level: string) => string
  /** Returns the page on which a tool can be fixed, or undefined for a tool of an upstream. */
  hrefOf: HrefOf
}

const listFindings = (report: CatalogueReport, presentation: Presentation): Told[] => [
  ...findCatalogueFindings(report, presentation).map(finding => ({ tool: undefined, finding })),
  ...report.tools.flatMap(({ name, findings }) => findings.map(finding => ({ tool: name, finding }))),
]

/** Builds the section that shows the token cost of a server's tools and the findings about them. */
export const toCatalogueView = (
  report: CatalogueReport,
  { presentation, level, levelPath = () => '', hrefOf }: CatalogueQuery,
) => {
  const told = listFindings(report, presentation)
  const shown = level === undefined ? told : told.filter(({ finding }) => finding.level === level)
  const now = findListCost(report, presentation)
  return {
    encoding: report.encoding,
    tokens: now && formatNumber(now.tokens),
    costs: toCostRows(report, presentation),
    why: presentation === 'auto' ? report.auto.why : undefined,
    /** Whether clients see the complete list of tools, and may therefore reject some of them. */
    isFlat: now?.presentation === 'flat',
    passesOn: presentation === 'passthrough',
    count: countInWords(told),
    hasFindings: told.length > 0,
    levels: toLevelTabs(told, level, levelPath),
    rules: toRuleGroups(shown, hrefOf),
    /** Whether some findings are about tools of upstreams, which cannot be fixed here. */
    hasForeign: told.some(({ tool }) => tool !== undefined && hrefOf(tool) === undefined),
  }
}

/** Returns a sentence for the overview with the token cost of the tool list and the number of findings. */
export const toCatalogueSentence = (report: CatalogueReport, presentation: Presentation): string | undefined => {
  const tokens = findListCost(report, presentation)?.tokens
  if (tokens === undefined) return undefined
  const count = countInWords(listFindings(report, presentation))
  const suggestions = count === '' ? '' : ` Suggestions: ${count}.`
  return `The list of tools adds ${formatNumber(tokens)} tokens to every conversation (counted with ${report.encoding}).${suggestions}`
}

/** Returns the token count and number of findings for each tool's row. */
export const toToolCosts = ({ tools }: CatalogueReport): ReadonlyMap<string, { tokens: string; findings?: string }> =>
  new Map(
    tools.map(({ name, tokens, findings }) => [
      name,
      {
        tokens: formatNumber(tokens),
        ...(findings.length === 0 ? {} : { findings: formatCount(findings.length, 'finding') }),
      },
    ]),
  )
