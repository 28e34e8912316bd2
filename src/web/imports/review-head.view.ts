import type { Import, ImportTotals } from '../../imports/import.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { sourceNameOf } from './import-row.view.ts'
import { importCrumbs, importPath, type OpenedImport } from './open-import.ts'
import { REVIEW_VIEWS, type ReviewQuery, reviewAddress } from './review-query.ts'

/** VS Code refuses requests with more tools than this, of all servers together. */
const VS_CODE_MAX_TOOLS = 128

const describeCounts = ({ read, total, state }: Import, { refused }: ImportTotals): string => {
  if (state === 'reading') {
    return total === undefined ? 'Reading…' : `${formatNumber(read)} of ${formatCount(total, 'operation')} read.`
  }
  if (state === 'failed') return ''
  const operations = formatCount(read, 'operation')
  return refused === 0 ? `${operations}.` : `${operations}, ${formatNumber(refused)} cannot be imported.`
}

/** Returns what every page of an import shows: its source and its size. `isAgain` says that it was imported before. */
export const toReviewHead = (opened: OpenedImport, isAgain = false) => {
  const { found, toolkit } = opened
  const { summary } = found
  const name = sourceNameOf(found)
  return {
    title: `${isAgain ? 'Update' : 'Import'} ${name}`,
    verb: isAgain ? 'Update' : 'Import',
    section: 'toolkits' as const,
    crumbs: importCrumbs(opened),
    name,
    path: importPath(found),
    toolkit: { href: `/toolkits/${toolkit.id}`, title: toolkit.title },
    format: [summary?.format, summary?.version && `version ${summary.version}`].filter(Boolean).join(', '),
    source: summary?.title === undefined ? undefined : (found.sourceName ?? found.sourceUrl),
    counts: describeCounts(found, found.totals),
    again: `/toolkits/${toolkit.id}/imports`,
  }
}

const VIEW_TEXTS = {
  changes: 'Changes',
  operations: 'Operations',
  findings: 'Findings',
  names: 'Names',
  access: 'URL and auth',
} as const

/**
 * Returns the tabs of the review. `lacking` is the number of values that are still missing, `changed` that of tools which
 * the source changes; undefined if it was not imported before.
 */
export const toReviewTabs = (
  { found }: OpenedImport,
  query: ReviewQuery,
  { lacking, changed }: { lacking: number; changed: number | undefined },
) => {
  const { selected, tools } = found.totals
  const { rules = [], remarks = 0 } = found.summary ?? {}
  const counts = {
    changes: changed === undefined ? undefined : formatNumber(changed),
    operations: `${formatNumber(selected)} of ${formatNumber(tools)}`,
    findings: formatNumber(rules.length + remarks),
    names: undefined,
    access: lacking === 0 ? undefined : `${formatNumber(lacking)} missing`,
  }
  return REVIEW_VIEWS.filter(view => view !== 'changes' || changed !== undefined).map(view => ({
    href: reviewAddress(importPath(found), { view, open: query.open }),
    text: VIEW_TEXTS[view],
    count: counts[view],
    isCurrent: view === query.view,
  }))
}

const describeApplying = (added: number, updated: number, isAgain: boolean): string => {
  if (isAgain && added + updated === 0) return 'Keep all tools as they are'
  if (updated === 0) return `Import ${formatCount(added, 'tool')}`
  if (added === 0) return `Update ${formatCount(updated, 'tool')}`
  return `Import ${formatCount(added, 'tool')}, update ${formatNumber(updated)}`
}

/** Returns the bar with what is selected, of which `added` operations become new tools. */
export const toReviewBar = (
  { totals, settings }: Import & { totals: ImportTotals },
  { server, added, isAgain }: { server: string | undefined; added: number; isAgain: boolean },
) => ({
  tools: formatNumber(totals.selected),
  noun: totals.selected === 1 ? 'tool' : 'tools',
  tokens: formatNumber(totals.selectedTokens),
  server,
  discarded:
    server === undefined && settings.secretKeys.length > 0
      ? `${formatCount(settings.secretKeys.length, 'secret')} will be discarded, because no server is chosen.`
      : undefined,
  button: describeApplying(added, totals.selected - added, isAgain),
  tooMany:
    totals.selected >= VS_CODE_MAX_TOOLS
      ? `VS Code refuses more than ${VS_CODE_MAX_TOOLS} tools of all servers together. A server with this many lists them behind a search, unless you change it in its settings.`
      : undefined,
})
