import type { UnlistedTools } from '../runtime/call/compiled-server.ts'
import type { CallContext, CompiledTool } from '../runtime/call/compiled-tool.ts'
import { NEAREST_TOOLS, type ToolEmbeddings, type ToolMeanings } from './embeddings/tool-embeddings.ts'
import type { ToolFinder, ToolIndex } from './ranking/tool-index.ts'

/** Smoothing constant of reciprocal rank fusion (Cormack et al. 2009). */
const K = 60

/** Merges several rankings, each best first, by reciprocal rank fusion. */
export const fuseOrders = (orders: readonly (readonly number[])[]): number[] => {
  const scores = new Map<number, number>()
  for (const order of orders) {
    for (const [at, place] of order.entries()) scores.set(place, (scores.get(place) ?? 0) + 1 / (K + at + 1))
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([place]) => place)
}

export type ToolSearchParts = {
  finder: Pick<ToolFinder, 'buildIndex'>
  /** Adds semantic search to word search. Undefined if no endpoint is configured. */
  embeddings: Pick<ToolEmbeddings, 'prepare'> | undefined
  unlisted: UnlistedTools | undefined
}

/** The fields of a found tool that search results show or calls need. */
export type Found = Pick<CompiledTool, 'name' | 'title' | 'description' | 'inputSchema' | 'isReadOnly' | 'call'>

/** Returns whether the caller's token allows a tool. Read-only tokens allow only read-only tools. */
const maySee =
  ({ caller }: Pick<CallContext, 'caller'>) =>
  ({ isReadOnly }: Found): boolean =>
    isReadOnly || caller?.limitedTo === undefined || caller.limitedTo.has('mcp:call')

type FindPlaces = (query: string, limit: number, isThere: (place: number) => boolean) => Promise<number[]>

/** Merges the word ranking with the semantic ranking, if one is available. */
const findByBoth =
  (findByWords: FindPlaces, meanings: ToolMeanings): FindPlaces =>
  async (query, limit, isThere) => {
    const near = await meanings.find(query, isThere)
    if (near === undefined) return findByWords(query, limit, isThere)
    return fuseOrders([await findByWords(query, NEAREST_TOOLS, isThere), near]).slice(0, limit)
  }

/** Creates the search for a server's tools. The first search builds the index. */
export const createToolSearch = (tools: readonly Found[], { finder, embeddings, unlisted }: ToolSearchParts) => {
  let listed: Promise<ToolIndex> | undefined
  const findByWords: FindPlaces = async (query, limit, isThere) => {
    listed ??= finder.buildIndex(tools)
    return (await listed).find(query, limit, isThere)
  }
  const meanings = embeddings?.prepare(tools)
  const findByAll = meanings === undefined ? findByWords : findByBoth(findByWords, meanings)

  /** Finds tools that an upstream offers to this client only. They are few, so each search indexes them. */
  const findOwn = async (query: string, limit: number, { link }: CallContext): Promise<Found[]> => {
    const own = link?.peer?.kind === 'session' ? (unlisted?.list(link.peer) ?? []) : []
    if (own.length === 0) return []
    return (await finder.buildIndex(own)).find(query, limit).flatMap(place => own[place] ?? [])
  }
  const findWith = async (findPlaces: FindPlaces, query: string, limit: number, context: CallContext) => {
    const isAllowed = maySee(context)
    const own = (await findOwn(query, limit, context)).filter(isAllowed)
    const isThere = (place: number): boolean => {
      const tool = tools[place]
      return tool !== undefined && isAllowed(tool)
    }
    const found = (await findPlaces(query, limit, isThere)).flatMap(place => tools[place] ?? [])
    // The client's own tools would get lost among many others, so they alternate with the other results.
    return found
      .flatMap((tool, at) => [tool, ...own.slice(at, at + 1)])
      .concat(own.slice(found.length))
      .slice(0, limit)
  }
  return {
    find: (query: string, limit: number, context: CallContext) => findWith(findByAll, query, limit, context),
    /** Searches by words only, because an unknown name is usually a misspelling. */
    findNamed: (name: string, limit: number, context: CallContext) => findWith(findByWords, name, limit, context),
  }
}
export type ToolSearch = ReturnType<typeof createToolSearch>
