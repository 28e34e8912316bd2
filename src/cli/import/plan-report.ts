import type { ImportGlobal, ReadTool } from '../../imports/import.ts'
import type { SourceEnd } from '../../imports/source-parts.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { leftOutLines } from './choose-operations.ts'
import { commonNotes, countNotes, toolLines } from './openapi-report.ts'
import type { ChosenPlan } from './read-plan.ts'

type Secrets = SourceEnd['secrets']

/** Without the value of a secret. */
const toGlobalView = ({ key, isSecret, value, origins }: ImportGlobal, secrets: Secrets) =>
  isSecret
    ? { key, secret: true, hasValue: Object.hasOwn(secrets, key), origins }
    : { key, secret: false, value: value ?? null }

/** Returns the plan of an import for `--json`. */
export const toPlanView = ({ head, end, tools, refused, leftOut }: ChosenPlan<ReadTool>) => ({
  title: head.title ?? null,
  tools: tools.map(({ key, tags, tokens, notes, tool }) => ({ key, tags, tokens, notes, tool })),
  refused: refused.map(({ key, tags, reason }) => ({ key, tags, reason })),
  leftOut,
  globals: end.globals.map(global => toGlobalView(global, end.secrets)),
  notes: end.notes,
})

const toShown = ({ tool, key, tokens, notes }: ReadTool) => ({ name: tool.name, key, tokens, notes })

const byTag = (tools: readonly ReadTool[], counts: ReadonlyMap<string, number>): readonly string[] =>
  [...Map.groupBy(tools, ({ tags }) => tags.join(' / '))].flatMap(([tag, tagged]) => [
    ...(tag === '' ? [] : [tag]),
    ...toolLines(tagged.map(toShown), counts),
  ])

const globalLine = ({ key, isSecret, value, origins }: ImportGlobal, secrets: Secrets): string => {
  if (!isSecret) return `  ${key} = ${value ?? '(enter a value)'}`
  const destination = origins.length === 0 ? '' : ` for ${origins.join(', ')}`
  return `  ${key} (secret${destination}; ${Object.hasOwn(secrets, key) ? 'its value is in the source' : 'enter a value'})`
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines]

/** Returns the plan of an import as text. */
export const planLines = ({ head, end, tools, refused, leftOut }: ChosenPlan<ReadTool>): string[] => {
  const counts = countNotes(tools.map(toShown))
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  return [
    ...(head.title === undefined ? [] : [head.title]),
    `${formatCount(tools.length, 'tool')}, ${formatNumber(tokens)} tokens:`,
    ...byTag(tools, counts),
    ...commonNotes(counts),
    ...leftOutLines(leftOut),
    ...section(
      `${formatCount(refused.length, 'request')} cannot be imported:`,
      refused.map(({ key, reason }) => `  ${key}  ${reason}`),
    ),
    ...section(
      'Globals of the server:',
      end.globals.map(global => globalLine(global, end.secrets)),
    ),
    ...end.notes,
  ]
}
