import { removeHidden } from '../upstreams/catalogue/hidden-text.ts'
import type { UpstreamSource } from '../upstreams/catalogue/present-tools.ts'
import { isToolAllowed } from '../upstreams/catalogue/present-tools.ts'
import type { UnlistedTools } from './call/compiled-server.ts'
import type { CompiledTool } from './call/compiled-tool.ts'
import { compileUpstreamTool, type UpstreamToolParts } from './compile-upstream-tools.ts'
import type { OpenedGlobals } from './opened-globals.ts'

/**
 * Maximum length of a name. The newest protocol version allows 128 characters for tools, and prefixes are much shorter.
 */
const MAX_NAME_CHARS = 200

/** Whether tools have the upstream's own names, as in a group, or their names on the server. */
type Naming = 'own' | 'presented'

/** Same as `compileUnlistedTools`, but for one upstream. Finds tools by the upstream's own names. */
export const compileUnlistedOf = (
  { upstream }: UpstreamSource,
  naming: Naming,
  globals: OpenedGlobals,
  parts: UpstreamToolParts,
): UnlistedTools => {
  const { config } = upstream
  const isOffered = (dedicated: string): boolean =>
    config.features.tools && isToolAllowed(config, removeHidden(dedicated))
  return {
    find: dedicated => {
      if (dedicated === '' || dedicated.length > MAX_NAME_CHARS || !isOffered(dedicated)) return undefined
      const item = { name: dedicated, declared: { name: dedicated } }
      return compileUpstreamTool(upstream, item, globals, parts)
    },
    list: ({ key }) =>
      parts.upstreamConversation.dedicated.toolsOf(upstream.id, key).flatMap((item): CompiledTool[] => {
        if (!isOffered(item.name)) return []
        const tool = compileUpstreamTool(upstream, item, globals, parts)
        return [naming === 'own' ? { ...tool, name: removeHidden(item.name) } : tool]
      }),
  }
}

/**
 * Compiles the tools that upstreams offer only to clients that can be asked for input. No stored catalogue contains
 * these tools. They become known from each client's own connections. Before a client has a connection, only a call
 * shows whether a tool exists.
 */
export const compileUnlistedTools = (
  sources: readonly UpstreamSource[],
  taken: ReadonlySet<string>,
  globals: OpenedGlobals,
  parts: UpstreamToolParts,
): UnlistedTools => {
  const all = sources.map(source => ({
    prefix: `${source.upstream.config.prefix ?? source.upstream.name}_`,
    unlisted: compileUnlistedOf(source, 'presented', globals, parts),
  }))
  return {
    find: name => {
      for (const { prefix, unlisted } of all) {
        const found = name.startsWith(prefix) ? unlisted.find(name.slice(prefix.length)) : undefined
        if (found !== undefined) return found
      }
      return undefined
    },
    list: peer => all.flatMap(({ unlisted }) => unlisted.list(peer)).filter(({ name }) => !taken.has(name)),
  }
}
