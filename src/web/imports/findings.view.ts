import { editedTool, type Import, type ImportItem, type ImportTotals } from '../../imports/import.ts'
import { withoutDetail } from '../../imports/note-detail.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import { importPath } from './open-import.ts'
import { reviewAddress } from './review-query.ts'

/** Operations named for each finding. The others are behind a link. */
export const EXAMPLES_PER_RULE = 3
/** Rules whose operations are named. */
export const MAX_RULES = 30
const REFUSED_SHOWN = 10

const LEVELS = {
  error: { text: 'Error', state: 'failed' },
  warning: { text: 'Check', state: 'slow' },
  hint: { text: 'Note', state: 'idle' },
} as const

/** Turns the name of a rule into words: `array-without-items` becomes `Array without items`. */
const wordsOf = (rule: string): string => {
  const words = rule.replaceAll('-', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** Returns the address of an opened operation, with the list beside it. */
const operationHref = (path: string, key: string): string =>
  `${reviewAddress(path, { view: 'operations', q: key.split(' ')[1] ?? key, open: key })}#opened`

const nameOf = (item: ImportItem): string => editedTool(item)?.name ?? item.key

const toRule = (
  { rule, level, operations }: NonNullable<Import['summary']>['rules'][number],
  examples: readonly ImportItem[],
  path: string,
) => {
  const found = examples.flatMap(item => {
    const finding = 'tool' in item ? item.findings.find(one => one.rule === rule) : undefined
    return finding === undefined ? [] : [{ item, finding }]
  })
  return {
    id: `rule-${rule}`,
    title: wordsOf(rule),
    status: LEVELS[level],
    count: formatNumber(operations),
    remedy: found[0]?.finding.remedy,
    examples: found.map(({ item, finding }) => ({
      href: `${reviewAddress(path, { rule, open: item.key })}#opened`,
      name: nameOf(item),
      message: finding.message,
    })),
    all: reviewAddress(path, { rule }),
  }
}

type NotedOperation = { key: string; notes: readonly string[] }

/** Groups operations by what the import left out or changed. */
const toNoted = (noted: readonly NotedOperation[], path: string) => {
  const all = noted.flatMap(({ key, notes }) => [...new Set(notes.map(withoutDetail))].map(text => ({ key, text })))
  return [...Map.groupBy(all, ({ text }) => text)].map(([text, operations]) => ({
    text,
    count: formatNumber(operations.length),
    shown: operations.slice(0, EXAMPLES_PER_RULE).map(({ key }) => ({ key, href: operationHref(path, key) })),
    more: operations.length > EXAMPLES_PER_RULE ? formatNumber(operations.length - EXAMPLES_PER_RULE) : undefined,
  }))
}

/** What the tab with the findings is made of, apart from the import. */
export type ListedFindings = {
  examples: ReadonlyMap<string, readonly ImportItem[]>
  refused: readonly { key: string; reason: string }[]
  noted: readonly NotedOperation[]
}

/** Returns the tab with the findings, grouped by rule, and with what is not imported as it is described. */
export const toFindings = (found: Import & { totals: ImportTotals }, { examples, refused, noted }: ListedFindings) => {
  const path = importPath(found)
  const reasons = [...Map.groupBy(refused, ({ reason }) => reason)]
  return {
    notes: found.summary?.notes ?? [],
    webhooks: found.summary?.webhooks ?? 0,
    refused: reasons.map(([reason, items], index) => ({
      id: `reason-${index}`,
      reason,
      count: formatNumber(items.length),
      shown: items.slice(0, REFUSED_SHOWN).map(({ key }) => ({
        key,
        href: operationHref(path, key),
      })),
      more: items.length > REFUSED_SHOWN ? formatNumber(items.length - REFUSED_SHOWN) : undefined,
    })),
    noted: toNoted(noted, path),
    rules: (found.summary?.rules ?? []).map(one => toRule(one, examples.get(one.rule) ?? [], path)),
  }
}
