import type { MappedSource, ProposedGlobal } from '../../imports/mapped-source.ts'
import type { ImportedOperation, MappedOperation } from '../../imports/openapi/imported-operation.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { type LeftOut, leftOutLines } from './choose-operations.ts'
import { commonNotes, countNotes, toolLines } from './openapi-report.ts'

export const isMapped = (operation: ImportedOperation): operation is MappedOperation => 'tool' in operation

const split = ({ operations }: MappedSource) => ({
  tools: operations.filter(isMapped),
  refused: operations.filter(operation => 'reason' in operation),
})

/** Without the value of a secret. */
const toGlobalView = ({ key, isSecret, value, origins }: ProposedGlobal) =>
  isSecret
    ? { key, secret: true, hasValue: value !== undefined, origins }
    : { key, secret: false, value: value ?? null }

/** The plan of an import, with what it leaves out unless the user chooses it. */
type ChosenPlan = MappedSource & { leftOut: readonly LeftOut[] }

/** Returns the plan of an import for `--json`. */
export const toPlanView = (source: ChosenPlan) => {
  const { tools, refused } = split(source)
  return {
    title: source.title ?? null,
    tools: tools.map(({ key, tags, tokens, notes, tool }) => ({ key, tags, tokens, notes, tool })),
    refused: refused.map(({ key, tags, reason }) => ({ key, tags, reason })),
    leftOut: source.leftOut,
    globals: source.globals.map(toGlobalView),
    notes: source.notes,
  }
}

const toShown = ({ tool, key, tokens, notes }: MappedOperation) => ({ name: tool.name, key, tokens, notes })

const byTag = (tools: readonly MappedOperation[], counts: ReadonlyMap<string, number>): readonly string[] =>
  [...Map.groupBy(tools, ({ tags }) => tags.join(' / '))].flatMap(([tag, tagged]) => [
    ...(tag === '' ? [] : [tag]),
    ...toolLines(tagged.map(toShown), counts),
  ])

const globalLine = ({ key, isSecret, value, origins }: ProposedGlobal): string => {
  if (!isSecret) return `  ${key} = ${value ?? '(enter a value)'}`
  const destination = origins.length === 0 ? '' : ` for ${origins.join(', ')}`
  return `  ${key} (secret${destination}; ${value === undefined ? 'enter a value' : 'its value is in the source'})`
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines]

/** Returns the plan of an import as text. */
export const planLines = (source: ChosenPlan): string[] => {
  const { tools, refused } = split(source)
  const counts = countNotes(tools.map(toShown))
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  return [
    ...(source.title === undefined ? [] : [source.title]),
    `${formatCount(tools.length, 'tool')}, ${formatNumber(tokens)} tokens:`,
    ...byTag(tools, counts),
    ...commonNotes(counts),
    ...leftOutLines(source.leftOut),
    ...section(
      `${formatCount(refused.length, 'request')} cannot be imported:`,
      refused.map(({ key, reason }) => `  ${key}  ${reason}`),
    ),
    ...section('Globals of the server:', source.globals.map(globalLine)),
    ...source.notes,
  ]
}
