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

/**
 * Merges the rankings of several phrasings of one question: by a tool's best rank, because one good phrasing is enough,
 * and among equals by all ranks.
 */
const mergePhrasings = (orders: readonly (readonly number[])[]): number[] => {
  const best = new Map<number, number>()
  for (const order of orders) {
    for (const [rank, place] of order.entries()) best.set(place, Math.min(best.get(place) ?? rank, rank))
  }
  const rankOf = (place: number): number => best.get(place) ?? 0
  return fuseOrders(orders).sort((a, b) => rankOf(a) - rankOf(b))
}

/** A search for tools. `queries` are phrasings of the same task. */
export type Question = {
  queries: readonly string[]
  /** Finds only tools of this toolkit or attached MCP server. */
  group?: string | undefined
  limit: number
}

export type ToolSearchParts = {
  finder: Pick<ToolFinder, 'buildIndex'>
  /** Adds semantic search to word search. Undefined if no endpoint is configured. */
  embeddings: Pick<ToolEmbeddings, 'prepare'> | undefined
  unlisted: UnlistedTools | undefined
}

/** The fields of a found tool that search results show or calls need. */
export type Found = Pick<
  CompiledTool,
  'name' | 'title' | 'description' | 'inputSchema' | 'isReadOnly' | 'group' | 'call'
>

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

  /** Lists the tools that an upstream offers to this client only. */
  const listOwn = ({ link }: Pick<CallContext, 'link'>): readonly Found[] =>
    link?.peer?.kind === 'session' ? (unlisted?.list(link.peer) ?? []) : []
  /** Searches some of the client's own tools. They are few, so each search indexes them. */
  const findOwn = async ({ queries, limit }: Question, own: readonly Found[]): Promise<Found[]> => {
    if (own.length === 0) return []
    const index = await finder.buildIndex(own)
    return mergePhrasings(queries.map(query => index.find(query, limit))).flatMap(place => own[place] ?? [])
  }
  const findWith = async (findPlaces: FindPlaces, question: Question, context: CallContext) => {
    const { queries, group, limit } = question
    const isAllowed = maySee(context)
    const isWanted = (tool: Found): boolean => isAllowed(tool) && (group === undefined || tool.group === group)
    const own = await findOwn(question, listOwn(context).filter(isWanted))
    const isThere = (place: number): boolean => {
      const tool = tools[place]
      return tool !== undefined && isWanted(tool)
    }
    const orders = await Promise.all(queries.map(query => findPlaces(query, limit, isThere)))
    const found = mergePhrasings(orders).flatMap(place => tools[place] ?? [])
    // The client's own tools would get lost among many others, so they alternate with the other results.
    return found
      .flatMap((tool, at) => [tool, ...own.slice(at, at + 1)])
      .concat(own.slice(found.length))
      .slice(0, limit)
  }
  return {
    /** Lists the groups of the tools that an upstream offers to this client only. */
    listOwnGroups: (context: Pick<CallContext, 'link'>): string[] =>
      listOwn(context).flatMap(({ group }) => group ?? []),
    find: (question: Question, context: CallContext) => findWith(findByAll, question, context),
    /** Searches by words only, because an unknown name is usually a misspelling. */
    findNamed: (name: string, limit: number, context: CallContext) =>
      findWith(findByWords, { queries: [name], limit }, context),
  }
}
export type ToolSearch = ReturnType<typeof createToolSearch>
