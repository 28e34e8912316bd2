import type { ServerCallCounts } from '../../history/call-figures.store.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import type { ServerCard } from '../../servers/server-cards.store.ts'
import { sampleRemovalPath, serverTabPath } from '../frame/server-frame.ts'
import { atLeast } from './overview.view.ts'
import { toSpark } from './spark.ts'

/** Maximum jacks drawn on a card. The number of remaining tools is shown as text. */
const MAX_JACKS = 16

type JackState = 'failed' | 'called' | 'idle'

/** Builds one jack per tool. Call counts are capped, because they may include tools that have been removed since. */
const jacksOf = (tools: number | undefined, { calledTools, failingTools }: ServerCallCounts) => {
  if (tools === undefined || tools === 0) return undefined
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

/** What a card shows of a server that the reader may use. */
type OpenCard = ServerCard & { inside: NonNullable<ServerCard['inside']> }
export const isOpen = (card: ServerCard): card is OpenCard => card.inside !== undefined

/** An open card with the number of the server's tools, from `countTools`. */
export type CountedCard = OpenCard & { inside: { toolCount: number | undefined } }

const stateOf = (
  { toolCount }: CountedCard['inside'],
  { calls, failingTools }: ServerCallCounts,
  upstreamsDown: number,
): { state: 'good' | 'failed' | 'idle'; text: string } => {
  // An unreachable upstream takes precedence over past calls.
  if (upstreamsDown > 0) return { state: 'failed', text: `${formatCount(upstreamsDown, 'MCP server')} down` }
  if (toolCount === 0) return { state: 'idle', text: 'no tools' }
  if (calls === 0) return { state: 'idle', text: 'not called today' }
  const failing = Math.min(failingTools, toolCount ?? 0)
  return failing === 0
    ? { state: 'good', text: 'healthy' }
    : { state: 'failed', text: `${formatNumber(failing)} failing` }
}

type CardFrame = {
  baseUrl: string
  isOfSeveral: boolean
  upstreamsDown: number
  /** Whether it is a sample that the reader may remove. */
  isRemovable: boolean
}

type NameFrame = Pick<CardFrame, 'isOfSeveral'>

const toNameView = ({ id, name, tier, organizationName }: ServerCard, { isOfSeveral }: NameFrame) => ({
  href: serverTabPath(id, 'overview'),
  name,
  tier,
  /** Set if the list contains servers of several organizations. */
  organizationName: isOfSeveral ? organizationName : undefined,
})

/** A private server that the reader may not use. */
export const toClosedCardView = (card: ServerCard, frame: NameFrame) => ({
  ...toNameView(card, frame),
  ownerEmail: card.ownerEmail,
  isRequested: card.isRequested,
  requestPath: `${serverTabPath(card.id, 'access')}/requests`,
})

export const toServerCardView = (
  { inside, ...card }: CountedCard,
  counts: ServerCallCounts,
  { baseUrl, isOfSeveral, upstreamsDown, isRemovable }: CardFrame,
) => ({
  ...toNameView({ ...card, inside }, { isOfSeveral }),
  description: inside.description,
  sampleRemovalPath: isRemovable ? sampleRemovalPath(card.id) : undefined,
  address: serverUrl(baseUrl, card.id),
  addressLead: serverUrl(baseUrl, ''),
  jacks: jacksOf(inside.toolCount, counts),
  tools: formatCount(inside.toolCount ?? 0, 'tool'),
  state: stateOf(inside, counts, upstreamsDown),
  calls: atLeast(counts.calls, counts.isCut),
  callsLabel: 'Calls, last 24 h',
  spark: toSpark(
    counts.hours.map(({ calls }) => calls),
    index => (counts.hours[index]?.failed ?? 0) > 0,
  ),
  failed: atLeast(counts.failed, counts.isCut && counts.failed > 0),
  hasFailed: counts.failed > 0,
})

/**
 * Summarizes a complete list, as in "5 servers, 61 tools, 3,212 calls in the last 24 hours." The tools and calls are
 * those of the servers that the reader may use.
 */
export const summarizeServers = (
  total: number,
  cards: readonly CountedCard[],
  counts: ReadonlyMap<string, ServerCallCounts>,
): string => {
  const tools = cards.reduce((sum, { inside }) => sum + (inside.toolCount ?? 0), 0)
  const all = [...counts.values()]
  const calls = all.reduce((sum, one) => sum + one.calls, 0)
  const some = all.some(({ isCut }) => isCut) ? 'more than ' : ''
  return `${formatCount(total, 'server')}, ${formatCount(tools, 'tool')}, ${some}${formatCount(calls, 'call')} in the last 24 hours.`
}
