import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { Presentation } from '../../servers/server.ts'
import { type CatalogueReport, findCatalogueFindings, findListCost } from '../../tools/lint/catalogue-report.ts'
import type { Finding } from '../../tools/lint/finding.ts'
import { toPresentationChoices } from '../settings/presentation-form.ts'

/** Maximum findings on the page. The API returns all of them. */
const MAX_SHOWN = 100

const LEVELS: Readonly<Record<Finding['level'], { text: string; state: string }>> = {
  error: { text: 'error', state: 'failed' },
  warning: { text: 'warning', state: 'slow' },
  hint: { text: 'hint', state: 'idle' },
}

const ORDER = Object.keys(LEVELS)

type Told = { tool: string | undefined; finding: Finding }

const toFindingRow = ({ tool, finding }: Told, hrefOf: (tool: string) => string | undefined) => {
  const { level, parameter, message, remedy } = finding
  return {
    tool: tool ?? 'All tools',
    isTool: tool !== undefined,
    href: tool === undefined ? undefined : hrefOf(tool),
    level: LEVELS[level].text,
    state: LEVELS[level].state,
    parameter,
    message,
    remedy,
  }
}

/** Counts the findings by level, as in "3 errors, 12 warnings, 1 hint". */
const countInWords = (told: readonly Told[]): string => {
  const of = (level: Finding['level']): number => told.filter(({ finding }) => finding.level === level).length
  const [errors, warnings, hints] = [of('error'), of('warning'), of('hint')]
  const parts = [
    errors === 0 ? undefined : formatCount(errors, 'error'),
    warnings === 0 ? undefined : formatCount(warnings, 'warning'),
    hints === 0 ? undefined : formatCount(hints, 'hint'),
  ]
  return parts.flatMap(part => part ?? []).join(', ')
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

/**
 * Builds the section that shows the token cost of a server's tools and the findings about them. `hrefOf` returns the
 * page on which a tool can be fixed, or undefined for a tool of an upstream.
 */
export const toCatalogueView = (
  report: CatalogueReport,
  presentation: Presentation,
  hrefOf: (tool: string) => string | undefined,
) => {
  const told: Told[] = [
    ...findCatalogueFindings(report, presentation).map(finding => ({ tool: undefined, finding })),
    ...report.tools.flatMap(({ name, findings }) => findings.map(finding => ({ tool: name, finding }))),
  ].toSorted((a, b) => ORDER.indexOf(a.finding.level) - ORDER.indexOf(b.finding.level))
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
    findings: told.slice(0, MAX_SHOWN).map(one => toFindingRow(one, hrefOf)),
    /** Whether some findings are about tools of upstreams, which cannot be fixed here. */
    hasForeign: told.some(({ tool }) => tool !== undefined && hrefOf(tool) === undefined),
    more: told.length > MAX_SHOWN ? formatNumber(told.length - MAX_SHOWN) : undefined,
  }
}

/** Returns a sentence for the overview with the token cost of the tool list and the number of findings. */
export const toCatalogueSentence = (report: CatalogueReport, presentation: Presentation): string | undefined => {
  const { tokens, encoding, count } = toCatalogueView(report, presentation, () => undefined)
  if (tokens === undefined) return undefined
  const suggestions = count === '' ? '' : ` Suggestions: ${count}.`
  return `The list of tools adds ${tokens} tokens to every conversation (counted with ${encoding}).${suggestions}`
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
