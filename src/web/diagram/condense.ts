import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { shortenCallers } from './callers.ts'
import { type Detail, MAX_OPEN_SOCKETS, MAX_OPEN_TOOLS } from './detail.ts'
import {
  type DiagramContent,
  type ExposedRow,
  isExposed,
  isWired,
  type Panel,
  type Row,
  type Source,
  type WiredRow,
} from './diagram-content.ts'
import { callsOf, orderGroups, orderWiring } from './order.ts'
import type { Patch, PatchGroup, PatchLinks, PatchTool } from './patch.ts'

const failingFirst = (tools: readonly PatchTool[]): readonly PatchTool[] => [
  ...tools.filter(({ state }) => state === 'failed'),
  ...tools.filter(({ state }) => state !== 'failed'),
]

const openPanel = ({ name, href, meta, state, parameters }: PatchTool): Panel => ({
  name,
  href,
  meta,
  isFailed: state === 'failed',
  isStack: false,
  left: parameters.filter(isWired),
  right: parameters.filter(isExposed),
  hiddenRows: 0,
})

/** Cuts the rows to the limit. Rows without a value come first, because those are what readers look for. */
const cutLeft = (rows: readonly WiredRow[], limit: number): readonly WiredRow[] =>
  rows.length <= limit
    ? rows
    : [...rows.filter(row => row.source === 'missing'), ...rows.filter(row => row.source !== 'missing')].slice(0, limit)

const parameterCount = (count: number): ExposedRow => ({ source: 'exposed', name: formatCount(count, 'parameter') })

const cutPanel = (panel: Panel, limit: number): Panel => {
  const left = cutLeft(panel.left, limit)
  const right = panel.right.length <= limit ? panel.right : [parameterCount(panel.right.length)]
  return { ...panel, left, right, hiddenRows: panel.left.length - left.length }
}

const isTroubled = ({ state, parameters }: PatchTool): boolean =>
  state === 'failed' || parameters.some(({ source }) => source === 'missing')

const mergeKeyOf = (row: WiredRow): string =>
  `${row.source}\0${row.name}\0${row.source === 'fixed' ? '' : (row.key ?? '')}`

const mergeRows = (rows: readonly WiredRow[]): WiredRow[] => {
  const [first] = rows
  if (first === undefined) return []
  if (first.source !== 'fixed') return [{ ...first, count: rows.length }]
  const values = new Set(rows.flatMap(row => (row.source === 'fixed' ? row.value : [])))
  const value = values.size === 1 ? first.value : `${formatNumber(values.size)} values`
  return [{ ...first, value, count: rows.length }]
}

/** Returns one row per distinct parameter and source, the most common first. */
const mergeWiredRows = (parameters: readonly Row[]): readonly WiredRow[] =>
  [...Map.groupBy(parameters.filter(isWired), mergeKeyOf).values()]
    .flatMap(mergeRows)
    .sort((a, b) => (b.count ?? 0) - (a.count ?? 0))

const stackMeta = (kind: PatchGroup['kind'], tools: readonly PatchTool[], troubled: number): string => {
  if (troubled > 0) return `${formatNumber(troubled)} failing`
  const calls = callsOf({ tools })
  const called = calls === 0 ? 'not called' : formatCount(calls, 'call')
  return kind === 'upstream' ? `MCP · ${called}` : `all wired, ${called}`
}

const stackPanel = (
  kind: PatchGroup['kind'],
  tools: readonly PatchTool[],
  { stackRows }: Detail,
  { bindings }: PatchLinks,
): Panel => {
  const parameters = tools.flatMap(tool => tool.parameters)
  const rows = mergeWiredRows(parameters)
  const left = cutLeft(rows, stackRows)
  const exposed = parameters.filter(isExposed).length
  const troubled = tools.filter(isTroubled).length
  return {
    name: formatCount(tools.length, 'tool'),
    href: bindings,
    meta: stackMeta(kind, tools, troubled),
    isFailed: troubled > 0,
    isStack: true,
    left,
    right: exposed === 0 ? [] : [parameterCount(exposed)],
    hiddenRows: rows.length - left.length,
  }
}

const moreFailingPanel = (count: number, { tools }: PatchLinks): Panel => ({
  name: `and ${formatNumber(count)} more failing`,
  href: tools,
  meta: '',
  isFailed: true,
  isStack: false,
  left: [],
  right: [],
  hiddenRows: 0,
})

/** Returns one stack of the working tools and, beside it, as many failing tools as fit, each drawn open. */
const stackedPanels = (group: PatchGroup, detail: Detail, links: PatchLinks): readonly Panel[] => {
  const { openTools, openRows } = detail
  const apart = openTools === 0 ? [] : failingFirst(group.tools.filter(isTroubled))
  const together = openTools === 0 ? group.tools : group.tools.filter(tool => !isTroubled(tool))
  const open = (tool: PatchTool) => cutPanel(openPanel(tool), openRows)
  const hidden = apart.length - openTools
  return [
    ...(together.length > 1 ? [stackPanel(group.kind, together, detail, links)] : together.map(open)),
    ...apart.slice(0, openTools).map(open),
    ...(hidden > 0 ? [moreFailingPanel(hidden, links)] : []),
  ]
}

const isSmall = (tools: readonly PatchTool[]): boolean =>
  tools.length <= MAX_OPEN_TOOLS &&
  tools.reduce((sum, { parameters }) => sum + parameters.length, 0) <= MAX_OPEN_SOCKETS

/** Chooses what to draw: everything if the patch is small, otherwise one stack of tools per source. */
export const condense = (patch: Patch, detail: Detail): DiagramContent => {
  const { title, globals, callers, links } = patch
  const tools = patch.groups.flatMap(group => group.tools)
  const isStacked = !isSmall(tools)
  const toSource = (group: PatchGroup): Source => ({
    name: group.name,
    href: group.href,
    health: group.health,
    state: group.state,
    panels: isStacked ? stackedPanels(group, detail, links) : failingFirst(group.tools).map(openPanel),
  })
  const groups = orderGroups(patch.groups, detail.sources, links)
  return {
    title,
    toolCount: tools.length,
    isStacked,
    ...orderWiring(groups.map(toSource), globals, links.globals),
    callers: { tier: callers.tier, href: callers.href, list: shortenCallers(callers.list) },
  }
}
