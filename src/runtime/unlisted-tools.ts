import { isToolAllowed, presentedName, removeHidden, type UpstreamSource } from '../upstreams/index.ts'
import type { OpenedGlobals } from './compile-tool.ts'
import { compileUpstreamTool, type UpstreamToolParts } from './compile-upstream-tools.ts'
import type { CompiledTool, UnlistedTools } from './compiled-server.ts'

/** Longest name that is tried: tools have at most 128 characters in the newest protocol, and prefixes far fewer. */
const MAX_NAME_CHARS = 200

/** Whether what it lists is called by the upstream's own names, as in a group, or by those that a server shows. */
type Naming = 'own' | 'presented'

/** As `compileUnlistedTools`, of one upstream, which is found by its own names. */
export const compileUnlistedOf = (
  { upstream }: UpstreamSource,
  naming: Naming,
  globals: OpenedGlobals,
  parts: UpstreamToolParts,
): UnlistedTools => {
  const { config } = upstream
  const isOffered = (own: string): boolean => config.features.tools && isToolAllowed(config, removeHidden(own))
  return {
    find: own => {
      if (own === '' || own.length > MAX_NAME_CHARS || !isOffered(own)) return undefined
      const item = { name: own, declared: { name: own } }
      return compileUpstreamTool({ upstream, item, name: presentedName(upstream, own) }, globals, parts)
    },
    list: ({ key }) =>
      parts.exchange.own.toolsOf(upstream.id, key).flatMap((item): CompiledTool[] => {
        if (!isOffered(item.name)) return []
        const name = presentedName(upstream, item.name)
        const tool = compileUpstreamTool({ upstream, item, name }, globals, parts)
        return [naming === 'own' ? { ...tool, name: removeHidden(item.name) } : tool]
      }),
  }
}

/**
 * Tools that upstreams have for clients alone that can be asked something, so that no kept list has them. Each client's
 * own connections tell which there are; until one has, a call by the name that it would have finds out.
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
