import type { ServerCallCounts } from '../history/index.ts'
import { serverUrl } from '../kernel/index.ts'
import { formatCount, formatNumber } from '../platform/http/index.ts'
import { type ServerCard, serverTabPath } from '../servers/index.ts'
import { type Spark, toSpark } from './spark.ts'

/** Jacks in the row of a card; the others are counted. */
const MAX_JACKS = 16

type JackState = 'failed' | 'called' | 'idle'

export type ServerCardView = {
  href: string
  name: string
  description: string | undefined
  tier: ServerCard['tier']
  /** Where the list holds servers of several organizations. */
  organizationName: string | undefined
  address: string
  addressLead: string
  jacks: { label: string; states: JackState[]; more: string } | undefined
  tools: string
  state: { state: 'good' | 'failed' | 'idle'; text: string }
  calls: string
  callsLabel: string
  spark: Spark
  errors: string
  hasErrors: boolean
}

/** `3,000+` where more were not looked at. */
const atLeast = (count: number, isCut: boolean): string => `${formatNumber(count)}${isCut ? '+' : ''}`

/** Names of tools that are gone since were called too: there are never more jacks than tools. */
const jacksOf = (tools: number, { calledTools, failingTools }: ServerCallCounts): ServerCardView['jacks'] => {
  if (tools === 0) return undefined
  const failing = Math.min(failingTools, tools)
  const called = Math.min(calledTools - failingTools, tools - failing)
  const idle = tools - failing - called
  const states: JackState[] = [
    ...Array<JackState>(failing).fill('failed'),
    ...Array<JackState>(called).fill('called'),
    ...Array<JackState>(idle).fill('idle'),
  ]
  return {
    label: `${formatCount(tools, 'tool')}: ${formatNumber(called)} called today, ${formatNumber(failing)} failing, ${formatNumber(idle)} not called`,
    states: states.slice(0, MAX_JACKS),
    more: tools > MAX_JACKS ? `+${formatNumber(tools - MAX_JACKS)}` : '',
  }
}

const stateOf = (
  { tools, passesOn }: ServerCard,
  { calls, failingTools }: ServerCallCounts,
  upstreamsDown: number,
): ServerCardView['state'] => {
  // Nobody is helped by how its calls went as long as what answers them is away.
  if (upstreamsDown > 0) return { state: 'failed', text: `${formatCount(upstreamsDown, 'MCP server')} down` }
  if (tools === 0 && !passesOn) return { state: 'idle', text: 'no tool yet' }
  if (calls === 0) return { state: 'idle', text: 'not called today' }
  const failing = Math.min(failingTools, tools)
  return failing === 0
    ? { state: 'good', text: 'answering' }
    : { state: 'failed', text: `${formatNumber(failing)} failing` }
}

type CardFrame = { baseUrl: string; isOfSeveral: boolean; upstreamsDown: number }

export const toServerCardView = (
  card: ServerCard,
  counts: ServerCallCounts,
  { baseUrl, isOfSeveral, upstreamsDown }: CardFrame,
): ServerCardView => ({
  href: serverTabPath(card.id, 'overview'),
  name: card.name,
  description: card.description,
  tier: card.tier,
  organizationName: isOfSeveral ? card.organizationName : undefined,
  address: serverUrl(baseUrl, card.id),
  addressLead: serverUrl(baseUrl, ''),
  jacks: jacksOf(card.tools, counts),
  tools: formatCount(card.tools, 'tool'),
  state: stateOf(card, counts, upstreamsDown),
  calls: atLeast(counts.calls, counts.isCut),
  callsLabel: 'Calls, last day',
  spark: toSpark(
    counts.hours.map(({ calls }) => calls),
    index => (counts.hours[index]?.errors ?? 0) > 0,
  ),
  errors: atLeast(counts.errors, counts.isCut && counts.errors > 0),
  hasErrors: counts.errors > 0,
})

/** "5 addresses, 61 tools, 3,212 calls in the last day.", of a list that is shown whole. */
export const summarizeServers = (
  cards: readonly ServerCard[],
  counts: ReadonlyMap<string, ServerCallCounts>,
): string => {
  const tools = cards.reduce((sum, card) => sum + card.tools, 0)
  const all = [...counts.values()]
  const calls = all.reduce((sum, one) => sum + one.calls, 0)
  const some = all.some(({ isCut }) => isCut) ? 'more than ' : ''
  return `${formatCount(cards.length, 'address', 'addresses')}, ${formatCount(tools, 'tool')}, ${some}${formatCount(calls, 'call')} in the last day.`
}
