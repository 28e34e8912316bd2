import type { Upstream } from '../upstream.ts'
import type { CatalogueItem, KeptCatalogue } from './catalogue.ts'
import { removeHidden } from './hidden-text.ts'
import { presentedName } from './presented-name.ts'
import { isToolAllowed } from './tool-patterns.ts'

/** An upstream with what it was last heard to offer. */
export type UpstreamSource = { upstream: Upstream; kept: KeptCatalogue }

/** `name`: as clients know it. */
export type PresentedTool = { upstream: Upstream; item: CatalogueItem; name: string }

/** Something that an upstream offers and clients do not see; all texts without what is hidden in them. */
export type SkippedItem = {
  upstreamId: string
  kind: 'tool' | 'resource' | 'template' | 'prompt'
  /** As the upstream knows it. */
  item: string
  /** What it would be called. */
  name: string
  /** With both names, where two would have one. */
  reason: string
}

/** Of all upstreams of a server together: several times what any model could choose from. */
const MAX_UPSTREAM_TOOLS = 5_000

/** Characters of names, each as often as there are patterns, that are compared: thousands of honest tools have a tenth. */
const MAX_COMPARED_CHARS = 100_000_000

/**
 * What an upstream's features and patterns let through; by what one sees of a name, so that nothing hidden evades a
 * pattern. Where names are so long that comparing them would hold everybody up, the last of them are not let through.
 */
export const listAllowedTools = ({ upstream, kept }: UpstreamSource): readonly CatalogueItem[] => {
  const { features, allow = [], deny = [] } = upstream.config
  if (!features.tools) return []
  let room = MAX_COMPARED_CHARS
  return kept.catalogue.tools.filter(({ name }) => {
    room -= name.length * (allow.length + deny.length)
    return room >= 0 && isToolAllowed(upstream.config, removeHidden(name))
  })
}

/**
 * The tools of upstreams beside those of the server itself, `own`. Of two that would have one name the first stays: a
 * tool of the server, or of the upstream whose name comes first.
 */
export const presentTools = (
  sources: readonly UpstreamSource[],
  own: Iterable<string>,
): { tools: PresentedTool[]; skipped: SkippedItem[] } => {
  const taken = new Map([...own].map(name => [name, `the tool "${name}" of the server`]))
  const tools: PresentedTool[] = []
  const skipped: SkippedItem[] = []
  for (const source of sources) {
    const { upstream } = source
    for (const item of listAllowedTools(source)) {
      const plain = removeHidden(item.name)
      const name = presentedName(upstream, item.name)
      const shown = `the tool "${plain}" of the upstream "${upstream.name}"`
      const skip = (reason: string) =>
        skipped.push({ upstreamId: upstream.id, kind: 'tool', item: plain, name, reason })
      const holder = taken.get(name)
      if (holder !== undefined) skip(`${shown} would be "${name}", which ${holder} is already; change the prefix`)
      else if (tools.length === MAX_UPSTREAM_TOOLS) {
        skip(`the upstreams of this server have more than ${MAX_UPSTREAM_TOOLS} tools together`)
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

/** Resources, templates and prompts that are left out, because another upstream's has their name. */
const listSkippedOffers = (sources: readonly UpstreamSource[]): SkippedItem[] =>
  KINDS.flatMap(([kind, list]) => {
    const taken = new Map<string, string>()
    return sources.flatMap(({ upstream, kept }): SkippedItem[] =>
      kept.catalogue[list].flatMap(({ name: own }) => {
        const item = removeHidden(own)
        const name = kind === 'prompt' ? presentedName(upstream, own) : own
        const holder = taken.get(name)
        taken.set(name, holder ?? `the ${kind} "${item}" of the upstream "${upstream.name}"`)
        if (holder === undefined) return []
        const shown = removeHidden(name)
        const reason = `the ${kind} "${item}" of the upstream "${upstream.name}" would be "${shown}", which ${holder} is already`
        return { upstreamId: upstream.id, kind, item, name: shown, reason }
      }),
    )
  })

/** All that clients do not see of what the upstreams of a server offer, where `own` are the server's own tools. */
export const listSkippedItems = (sources: readonly UpstreamSource[], own: Iterable<string>): SkippedItem[] => [
  ...presentTools(sources, own).skipped,
  ...listSkippedOffers(sources),
]
