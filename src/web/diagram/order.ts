import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { MAX_GLOBALS } from './detail.ts'
import { globalKeyOf, type Panel, type Rack, type Source, type WiredRow } from './diagram-content.ts'
import { meanOf } from './dimensions.ts'
import type { PatchGlobal, PatchGroup, PatchLinks, PatchState } from './patch.ts'
import { placeSources } from './placement.ts'

export const callsOf = ({ tools }: Pick<PatchGroup, 'tools'>): number =>
  tools.reduce((sum, { calls }) => sum + calls, 0)

const wiredSockets = ({ tools }: PatchGroup): number =>
  tools.reduce((sum, { parameters }) => sum + parameters.filter(({ source }) => source !== 'exposed').length, 0)

/** Sorts items by weight. The sort is stable and computes each weight only once. */
const sortedBy = <Item>(items: readonly Item[], weightOf: (item: Item) => number): Item[] =>
  items
    .map(item => ({ item, weight: weightOf(item) }))
    .sort((a, b) => a.weight - b.weight)
    .map(({ item }) => item)

/** Worst first. */
const STATES: readonly PatchState[] = ['failed', 'slow', 'good', 'idle']
const STATE_WORDS: Readonly<Record<PatchState, string>> = {
  failed: 'failing',
  slow: 'slow',
  good: 'healthy',
  idle: 'not called',
}

const mergeGroups = (groups: readonly PatchGroup[], { sources }: PatchLinks): PatchGroup => {
  const states = STATES.filter(state => groups.some(group => group.state === state))
  const countOf = (wanted: PatchState) => groups.filter(({ state }) => state === wanted).length
  return {
    kind: groups.every(({ kind }) => kind === 'upstream') ? 'upstream' : 'toolkit',
    name: formatCount(groups.length, 'more source'),
    href: sources,
    health: states.map(state => `${formatNumber(countOf(state))} ${STATE_WORDS[state]}`).join(', '),
    state: states[0] ?? 'idle',
    tools: groups.flatMap(({ tools }) => tools),
  }
}

/**
 * Returns the groups with the most calls, and one group for all others. Toolkits come before upstreams, and groups with
 * many wired sockets before groups with few. Upstreams seldom use globals, so placing them last keeps the lanes short.
 */
export const orderGroups = (groups: readonly PatchGroup[], limit: number, links: PatchLinks): readonly PatchGroup[] => {
  const byCalls = sortedBy(groups, group => -callsOf(group))
  const largest = sortedBy(byCalls.slice(0, limit), group => -wiredSockets(group))
  const rest = byCalls.slice(limit)
  return [
    ...largest.filter(({ kind }) => kind === 'toolkit'),
    ...largest.filter(({ kind }) => kind === 'upstream'),
    ...(rest.length === 0 ? [] : [mergeGroups(rest, links)]),
  ]
}

/** Orders the rows as in the rack, followed by globals without a row in the rack, fixed values and missing globals. */
const orderRows = (panel: Panel, ranks: ReadonlyMap<string, number>): Panel => {
  const rankOf = (row: WiredRow): number => {
    if (row.source === 'missing') return MAX_GLOBALS + 2
    if (row.source === 'fixed') return MAX_GLOBALS + 1
    return ranks.get(row.key) ?? MAX_GLOBALS
  }
  return { ...panel, left: sortedBy(panel.left, rankOf) }
}

const orderSources = (sources: readonly Source[], rack: readonly PatchGlobal[]): readonly Source[] => {
  const ranks = new Map(rack.map(({ key }, index) => [key, index]))
  return sources.map(source => ({ ...source, panels: source.panels.map(panel => orderRows(panel, ranks)) }))
}

/** Returns the y of each global's sockets if the panels are drawn in this order. */
const heightsByKey = (sources: readonly Source[]): ReadonlyMap<string, readonly number[]> => {
  const heights = new Map<string, number[]>()
  for (const { row, y } of placeSources(sources, true).flatMap(source => source.panels.flatMap(({ left }) => left))) {
    const key = globalKeyOf(row)
    if (key !== undefined) heights.set(key, [...(heights.get(key) ?? []), y])
  }
  return heights
}

/** Counts, for each global, the drawn parameters that use it. */
const drawnUses = (sources: readonly Source[]): ReadonlyMap<string, number> => {
  const uses = new Map<string, number>()
  for (const row of sources.flatMap(({ panels }) => panels.flatMap(({ left }) => left))) {
    const key = globalKeyOf(row)
    if (key !== undefined) uses.set(key, (uses.get(key) ?? 0) + (row.count ?? 1))
  }
  return uses
}

/**
 * Gives the most used globals a row in the rack. The rack is ordered by the mean y of each global's sockets, with
 * unused globals last. Every panel uses the same order, so that tools with the same wiring look alike.
 */
export const orderWiring = (
  unordered: readonly Source[],
  globals: readonly PatchGlobal[],
  href: string | undefined,
): { sources: readonly Source[]; rack: Rack } => {
  const uses = drawnUses(unordered)
  const chosen = sortedBy(globals, ({ key }) => -(uses.get(key) ?? 0)).slice(0, MAX_GLOBALS)
  const heights = heightsByKey(orderSources(unordered, chosen))
  const rows = sortedBy(chosen, ({ key }) => meanOf(heights.get(key) ?? [Number.POSITIVE_INFINITY]))
  return {
    sources: orderSources(unordered, rows),
    rack: { rows, hiddenGlobals: globals.length - rows.length, href },
  }
}
