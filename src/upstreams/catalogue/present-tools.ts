import { createHash } from 'node:crypto'
import { hasPiecesInOrder, TOOL_NAME } from '../../lib/kernel/names.ts'
import { isPerCaller, type Upstream } from '../upstream.ts'
import type { CatalogueItem, StoredCatalogue } from './catalogue.ts'
import { MAX_UPSTREAM_TOOLS } from './catalogue-limits.ts'
import { removeHidden } from './hidden-text.ts'

const MAX_NAME_CHARS = 64
/** Long enough that two names on one server do not collide. */
const HASH_CHARS = 8

/**
 * Returns a valid tool name. An invalid one is cleaned and truncated, and a hash of the original is appended, so that the
 * name stays stable and unique.
 */
export const toValidName = (wanted: string): string => {
  if (TOOL_NAME.test(wanted)) return wanted
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, HASH_CHARS)
  const plain = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)
  return `${plain}_${hash}`
}

/** Returns the name that the server gives to an upstream's tool or prompt: `{prefix}_{item}`, made valid. */
export const presentedName = ({ name, config }: Pick<Upstream, 'name' | 'config'>, item: string): string => {
  const prefix = config.prefix ?? name
  return toValidName(prefix === '' ? item : `${prefix}_${item}`)
}

/** `*` in a pattern matches any characters, including none. */
const matches = (pattern: string, name: string): boolean => {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  return hasPiecesInOrder(name, { first, pieces: rest, last })
}

/** Applies `allow` (if given) and then `deny` to a tool's own name. */
export const isToolAllowed = (
  { allow, deny }: { allow?: readonly string[] | undefined; deny?: readonly string[] | undefined },
  name: string,
): boolean =>
  (allow === undefined || allow.some(pattern => matches(pattern, name))) &&
  !deny?.some(pattern => matches(pattern, name))

export type UpstreamSource = { upstream: Upstream; stored: StoredCatalogue }

/**
 * Returns the upstream's instructions. Undefined if each caller has their own account, because the catalogue comes from
 * one of them and its instructions may be about that account.
 */
export const instructionsOf = ({ upstream, stored }: UpstreamSource): string | undefined =>
  isPerCaller(upstream.config) ? undefined : stored.catalogue.instructions

/** `name` is the name that clients see. */
export type PresentedTool = { upstream: Upstream; item: CatalogueItem; name: string }

/** An item that clients do not see. Its strings contain no hidden characters. */
export type SkippedItem = {
  upstreamId: string
  kind: 'tool' | 'resource' | 'template' | 'prompt'
  /** The item's name at the upstream. */
  item: string
  /** The name that clients would have seen. */
  name: string
  /** In a name collision, names both items. */
  reason: string
}

/** Characters in names, times the number of patterns. Thousands of ordinary tools need a tenth of it. */
const MAX_COMPARED_CHARS = 100_000_000

/**
 * Returns the tools that the upstream's features and patterns allow. Patterns match names without hidden characters.
 * Drops the last tools if matching them would block the event loop for too long.
 */
export const listAllowedTools = ({ upstream, stored }: UpstreamSource): readonly CatalogueItem[] => {
  const { features, allow = [], deny = [] } = upstream.config
  if (!features.tools) return []
  let room = MAX_COMPARED_CHARS
  return stored.catalogue.tools.filter(({ name }) => {
    room -= name.length * (allow.length + deny.length)
    return room >= 0 && isToolAllowed(upstream.config, removeHidden(name))
  })
}

/**
 * Assigns names to the upstreams' tools. `own` holds the names of the server's own tools. If names collide, the
 * server's own tool wins, or else the tool of the first upstream. Upstreams are sorted by name.
 */
export const presentTools = (
  sources: readonly UpstreamSource[],
  own: Iterable<string>,
): { tools: PresentedTool[]; skipped: SkippedItem[] } => {
  const taken = new Map([...own].map(name => [name, `the server's own tool "${name}"`]))
  const tools: PresentedTool[] = []
  const skipped: SkippedItem[] = []
  for (const source of sources) {
    const { upstream } = source
    for (const item of listAllowedTools(source)) {
      const plain = removeHidden(item.name)
      const name = presentedName(upstream, item.name)
      const shown = `the tool "${plain}" of the MCP server "${upstream.name}"`
      const skip = (reason: string) =>
        skipped.push({ upstreamId: upstream.id, kind: 'tool', item: plain, name, reason })
      const holder = taken.get(name)
      if (holder !== undefined)
        skip(`${shown} would be named "${name}", which is already the name of ${holder}; change the prefix`)
      else if (tools.length === MAX_UPSTREAM_TOOLS) {
        skip(`the MCP servers of this server have more than ${MAX_UPSTREAM_TOOLS} tools in total`)
        return { tools, skipped }
      } else {
        taken.set(name, shown)
        tools.push({ upstream, item, name })
      }
    }
  }
  return { tools, skipped }
}

const KINDS = [
  ['resource', 'resources'],
  ['template', 'resourceTemplates'],
  ['prompt', 'prompts'],
] as const

/** Returns resources, templates and prompts left out because another upstream has one with the same name. */
const listSkippedOffers = (sources: readonly UpstreamSource[]): SkippedItem[] =>
  KINDS.flatMap(([kind, list]) => {
    const taken = new Map<string, string>()
    return sources.flatMap(({ upstream, stored }): SkippedItem[] =>
      stored.catalogue[list].flatMap(({ name: own }) => {
        const item = removeHidden(own)
        const name = kind === 'prompt' ? presentedName(upstream, own) : own
        const holder = taken.get(name)
        taken.set(name, holder ?? `the ${kind} "${item}" of the MCP server "${upstream.name}"`)
        if (holder === undefined) return []
        const shown = removeHidden(name)
        const reason = `the ${kind} "${item}" of the MCP server "${upstream.name}" would be named "${shown}", which is already the name of ${holder}`
        return { upstreamId: upstream.id, kind, item, name: shown, reason }
      }),
    )
  })

/** Returns all items that clients do not see because of a name collision or limit. See `presentTools` for `own`. */
export const listSkippedItems = (sources: readonly UpstreamSource[], own: Iterable<string>): SkippedItem[] => [
  ...presentTools(sources, own).skipped,
  ...listSkippedOffers(sources),
]
