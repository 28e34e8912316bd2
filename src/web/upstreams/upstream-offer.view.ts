import { setImmediate } from 'node:timers/promises'
import { exactTime } from '../../lib/http/pages/time-text.ts'
import { formatCount, formatNumber, shorten } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import { hasShaping } from '../../tools/response/result-shaping.ts'
import type { CatalogueItem, StoredCatalogue } from '../../upstreams/catalogue/catalogue.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import { listAllowedTools, presentedName, type SkippedItem } from '../../upstreams/catalogue/present-tools.ts'
import { findToolAnswers } from '../../upstreams/catalogue/tool-answers.ts'
import { MAX_MESSAGES_PER_SECOND } from '../../upstreams/connection/message-limit.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import { upstreamToolPath } from '../frame/server-frame.ts'

/** The lists in an upstream's catalogue: name on the page, property of the catalogue, heading. */
export const OFFER_LISTS = [
  ['tools', 'tools', 'Tools'],
  ['resources', 'resources', 'Resources'],
  ['templates', 'resourceTemplates', 'Templates'],
  ['prompts', 'prompts', 'Prompts'],
] as const
export type OfferList = (typeof OFFER_LISTS)[number][0]

/** Says what an upstream offers, such as "21 tools, 1 resource, 1 prompt". */
export const summarizeOffer = ({ catalogue }: StoredCatalogue): string => {
  const counts = [
    [catalogue.tools.length, 'tool'],
    [catalogue.resources.length, 'resource'],
    [catalogue.resourceTemplates.length, 'resource template'],
    [catalogue.prompts.length, 'prompt'],
  ] as const
  const shown = counts.filter(([count, noun]) => count > 0 || noun === 'tool')
  return shown.map(([count, noun]) => formatCount(count, noun)).join(', ')
}

/** Items per page. */
export const OFFERED_PER_PAGE = 50
/** Maximum length of a description in the list. The inspector shows the whole text. */
const MAX_SHOWN_CHARS = 400
/** Maximum findings listed. The others are only counted. */
const MAX_FINDINGS = 100

const listOf = ({ catalogue }: StoredCatalogue, list: OfferList): readonly CatalogueItem[] => {
  const member = OFFER_LISTS.find(([name]) => name === list)?.[1] ?? 'tools'
  return catalogue[member]
}

const textOf = ({ declared }: CatalogueItem, member: string): string => {
  const text = declared[member]
  return typeof text === 'string' ? text : ''
}

/** Returns the items whose name, title or description contains the search text. */
export const searchOffered = (stored: StoredCatalogue, list: OfferList, search: string): readonly CatalogueItem[] => {
  const wanted = search.toLowerCase()
  const holds = (text: string): boolean => text.toLowerCase().includes(wanted)
  const items = listOf(stored, list)
  if (wanted === '') return items
  return items.filter(
    item => holds(removeHidden(item.name)) || holds(textOf(item, 'title')) || holds(textOf(item, 'description')),
  )
}

/** Items of an upstream that are skipped or waiting for approval, by the names the upstream gives them. */
export type OfferFates = {
  skipped: readonly SkippedItem[]
  /** Tools that are waiting for approval. `isNew` is true if no earlier version of the tool is live. */
  waiting: ReadonlyMap<string, { isNew: boolean }>
  /** Tools whose new definition was rejected. */
  rejected: ReadonlyMap<string, { isNew: boolean }>
}

type State = { text: string; state?: 'slow' | 'idle' | 'failed' }

const createStates = (upstream: Upstream, stored: StoredCatalogue, { skipped, waiting, rejected }: OfferFates) => {
  const allowed = new Set(listAllowedTools({ upstream, stored }).map(({ name }) => name))
  const taken = new Set(skipped.map(({ kind, item }) => `${kind} ${item}`))
  return (list: OfferList, name: string): State => {
    if (list === 'tools' && !allowed.has(name)) return { text: 'not passed on', state: 'idle' }
    const waits = list === 'tools' ? waiting.get(name) : undefined
    if (waits !== undefined) return { text: waits.isNew ? 'new, not approved' : 'change not approved', state: 'slow' }
    const isRejected = list === 'tools' ? rejected.get(name) : undefined
    if (isRejected !== undefined) return { text: isRejected.isNew ? 'rejected' : 'change rejected', state: 'idle' }
    if (taken.has(`${list.slice(0, -1)} ${removeHidden(name)}`)) return { text: 'name is taken', state: 'failed' }
    return { text: 'passed on' }
  }
}

/** Maximum characters of a tool's definition that are counted. For a longer definition, the count is extrapolated. */
const MAX_COUNTED_CHARS = 16 * 1_024

/** Returns the token count of a tool's definition, which a model gets in every conversation. */
const costOf = async (
  name: string,
  { declared: { description, inputSchema } }: CatalogueItem,
  countTokens: TokenCounter,
): Promise<string> => {
  const schema: JsonObject = isJsonObject(inputSchema) ? inputSchema : {}
  const told = { name, ...(description === undefined ? {} : { description }), inputSchema: schema }
  const text = JSON.stringify(told)
  const counted = await countTokens(text.slice(0, MAX_COUNTED_CHARS))
  if (text.length <= MAX_COUNTED_CHARS) return formatNumber(counted)
  return `about ${formatNumber(Math.round((counted * text.length) / MAX_COUNTED_CHARS))}`
}

/** Summarizes how a tool's results are handled, and links to the settings. */
const toAnswersLink = (upstream: Upstream, tool: string) => {
  const { responseTokens, response, cacheSeconds } = findToolAnswers(upstream, tool)
  const words = [
    ...(responseTokens === undefined
      ? []
      : [responseTokens === 0 ? 'no limit' : `${formatNumber(responseTokens)} tokens`]),
    ...(hasShaping(response) ? ['shaped'] : []),
    ...(cacheSeconds === undefined ? [] : [`cached for ${formatNumber(cacheSeconds)} s`]),
  ]
  return { href: upstreamToolPath(upstream, tool), text: words.join(', ') || 'server default' }
}

/** Returns the rows of one page of a list. */
export const toOfferedRows = async (
  upstream: Upstream,
  stored: StoredCatalogue,
  shown: { list: OfferList; items: readonly CatalogueItem[]; fates: OfferFates; countTokens: TokenCounter },
) => {
  const { list, items, fates, countTokens } = shown
  const stateOf = createStates(upstream, stored, fates)
  const hasPrefix = list === 'tools' || list === 'prompts'
  const rows = []
  for (const item of items) {
    const name = hasPrefix ? presentedName(upstream, item.name) : removeHidden(item.name)
    const own = removeHidden(item.name)
    rows.push({
      name,
      // The upstream's own name, shown only if more than the prefix differs.
      own: name.endsWith(own) ? undefined : own,
      title: textOf(item, 'title') || undefined,
      description: shorten(textOf(item, 'description'), MAX_SHOWN_CHARS),
      state: stateOf(list, item.name),
      tokens: list === 'tools' ? await costOf(name, item, countTokens) : undefined,
      answers: list === 'tools' ? toAnswersLink(upstream, item.name) : undefined,
    })
    // Yield to the event loop, because counting the tokens of untrusted text can take a long time.
    await setImmediate()
  }
  return rows
}

/** Returns the lists as tabs, with the number of items in each. */
export const toOfferTabs = (stored: StoredCatalogue, current: OfferList, path: string) =>
  OFFER_LISTS.map(([list, , text]) => ({
    href: list === 'tools' ? `${path}#offer` : `${path}?list=${list}#offer`,
    text,
    count: formatNumber(listOf(stored, list).length),
    isCurrent: list === current,
  }))

export const toFetched = ({ fetchedAt, catalogue: { serverInfo } }: StoredCatalogue) => {
  const textIn = (member: string): string => {
    const text = serverInfo[member]
    return typeof text === 'string' ? removeHidden(text).slice(0, 100) : ''
  }
  return { time: exactTime(fetchedAt), from: [textIn('name'), textIn('version')].filter(text => text !== '').join(' ') }
}

const shownOf = <T>(items: readonly T[]): { items: readonly T[]; more: string | undefined } => ({
  items: items.slice(0, MAX_FINDINGS),
  more: items.length > MAX_FINDINGS ? `and ${formatNumber(items.length - MAX_FINDINGS)} more` : undefined,
})

const droppedFindings = (count: number) =>
  count === 0
    ? []
    : [
        {
          item: 'messages',
          text: `${formatCount(count, 'message')} dropped, because the MCP server sent more than ${MAX_MESSAGES_PER_SECOND} notifications or requests in a second. Its lists are refreshed if one of the messages was about them. The count restarts after a quiet minute.`,
        },
      ]

/** Returns findings for builders about items that were omitted, cut or cleaned, or that have no name. */
export const toFindings = (
  stored: StoredCatalogue | undefined,
  skipped: readonly SkippedItem[],
  droppedMessages: number,
) => {
  const flags = stored?.catalogue.flags ?? []
  const found = [
    ...droppedFindings(droppedMessages),
    ...skipped.map(({ item, reason }) => ({ item, text: reason })),
    ...flags.map(({ kind, item, message }) => ({
      item: item === '' ? `a ${kind} without a name` : item,
      text: message,
    })),
  ]
  return found.length === 0 ? undefined : { count: formatNumber(found.length), ...shownOf(found) }
}
