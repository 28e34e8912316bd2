import type { ReadTool } from '../../imports/import.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { leftOutLines } from './choose-operations.ts'
import type { ChosenPlan } from './read-plan.ts'

/** Notes that more tools have than this are counted instead of repeated. */
const MAX_REPEATED = 3

/** Returns a tool without its definition. All definitions of a large description would take much memory. */
export const toPlannedTool = ({ tool, findings: _, outputSchema: __, pagination: ___, ...rest }: ReadTool) => ({
  ...rest,
  name: tool.name,
  url: tool.url,
})

export type PlannedTool = ReturnType<typeof toPlannedTool>

/** The data of a tool that the report prints. */
type ShownTool = Pick<PlannedTool, 'name' | 'key' | 'tokens' | 'notes'>

export const countNotes = (tools: readonly ShownTool[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const note of tools.flatMap(({ notes }) => notes)) counts.set(note, (counts.get(note) ?? 0) + 1)
  return counts
}

export const toolLines = (tools: readonly ShownTool[], counts: ReadonlyMap<string, number>): string[] => {
  const width = Math.max(0, ...tools.map(({ name }) => name.length))
  return tools.flatMap(({ name, key, tokens, notes }) => [
    `  ${name.padEnd(width)}  ${key}  ${formatCount(tokens, 'token')}`,
    ...notes.filter(note => (counts.get(note) ?? 0) <= MAX_REPEATED).map(note => `    ${note}`),
  ])
}

/** Returns the notes that many tools have, each once. */
export const commonNotes = (counts: ReadonlyMap<string, number>): string[] =>
  [...counts]
    .filter(([, count]) => count > MAX_REPEATED)
    .map(([note, count]) => `${formatCount(count, 'tool')}: ${note}`)

/** Returns the plan of an import for `--json`. */
export const toPlanView = ({ head, end, tools, leftOut, refused }: ChosenPlan<PlannedTool>) => {
  const { format, title, version, description, total, webhooks, tags } = head
  const summary = { format, title, version, description, operations: total, webhooks, tags, secrets: head.globals }
  return { summary, tools, leftOut, refused, missing: end.missing, baseUrls: end.baseUrls, secrets: end.globals }
}

/** Returns the plan of an import as text. */
export const planLines = ({ head, end, tools, leftOut, refused }: ChosenPlan<PlannedTool>): string[] => {
  const { title, version, format, webhooks } = head
  const { missing, baseUrls } = end
  const counts = countNotes(tools)
  const used = new Set(tools.flatMap(({ globals }) => globals))
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  return [
    `${title}${version === undefined ? '' : ` ${version}`} (${format})`,
    `${formatCount(tools.length, 'tool')}, ${formatNumber(tokens)} tokens:`,
    ...toolLines(tools, counts),
    ...commonNotes(counts),
    ...leftOutLines(leftOut),
    ...(refused.length === 0 ? [] : [`${formatCount(refused.length, 'operation')} cannot be imported:`]),
    ...refused.map(({ key, reason }) => `  ${key}  ${reason}`),
    ...(webhooks === 0 ? [] : [`${formatCount(webhooks, 'webhook')} will not be imported: the API sends them.`]),
    ...(missing.length === 0 ? [] : ['These documents are missing:', ...missing.map(name => `  ${name}`)]),
    ...(head.globals.length === 0 ? ['The description does not say how to authenticate: see --auth.'] : []),
    'Globals of the server:',
    ...baseUrls.map(({ key, value }) => `  ${key} = ${value ?? '(the description does not say; enter the base URL)'}`),
    ...end.globals
      .filter(({ key }) => used.has(key))
      .map(
        ({ key, asks, origins }) =>
          `  ${key} (secret: ${[asks, ...origins.map(origin => `for ${origin}`)].join(', ')})`,
      ),
  ]
}
