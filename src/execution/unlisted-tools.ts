import { isToolAllowed, presentedName, removeHidden, type UpstreamSource } from '../upstreams/index.ts'
import type { OpenedGlobals } from './compile-tool.ts'
import { compileUpstreamTool, type UpstreamToolParts } from './compile-upstream-tools.ts'
import type { CompiledTool, UnlistedTools } from './compiled-server.ts'

/** Longest name that is tried: tools have at most 128 characters in the newest protocol, and prefixes far fewer. */
const MAX_NAME_CHARS = 200

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
  const isOffered = ({ upstream: { config } }: UpstreamSource, own: string): boolean =>
    config.features.tools && isToolAllowed(config, removeHidden(own))
  return {
    find: name => {
      if (name.length > MAX_NAME_CHARS) return undefined
      for (const source of sources) {
        const { name: upstreamName, config } = source.upstream
        const prefix = `${config.prefix ?? upstreamName}_`
        const own = name.slice(prefix.length)
        if (own === '' || !name.startsWith(prefix) || !isOffered(source, own)) continue
        const item = { name: own, declared: { name: own } }
        return compileUpstreamTool({ upstream: source.upstream, item, name }, globals, parts)
      }
      return undefined
    },
    list: ({ key }) =>
      sources.flatMap(source =>
        parts.exchange.own.toolsOf(source.upstream.id, key).flatMap((item): CompiledTool[] => {
          const name = presentedName(source.upstream, item.name)
          if (taken.has(name) || !isOffered(source, item.name)) return []
          return [compileUpstreamTool({ upstream: source.upstream, item, name }, globals, parts)]
        }),
      ),
  }
}
