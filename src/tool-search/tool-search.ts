import {
  fuseOrders,
  NEAREST_TOOLS,
  type ToolEmbeddings,
  type ToolFinder,
  type ToolIndex,
  type ToolMeanings,
} from '../../context/index.ts'
import type { CallContext, CompiledTool, UnlistedTools } from '../compiled-server.ts'

export type ToolSearchParts = {
  finder: Pick<ToolFinder, 'buildIndex'>
  /** Where the operator has set an endpoint: what tools mean stands beside their words. */
  embeddings: Pick<ToolEmbeddings, 'prepare'> | undefined
  unlisted: UnlistedTools | undefined
}

/** What is left of a tool that is found: what calls take, and what describes it. */
export type Found = Pick<CompiledTool, 'name' | 'title' | 'description' | 'inputSchema' | 'isReadOnly' | 'call'>

/** Whether the caller's token lets them call what changes something. */
const maySee =
  ({ caller }: Pick<CallContext, 'caller'>) =>
  ({ isReadOnly }: Found): boolean =>
    isReadOnly || caller?.limitedTo === undefined || caller.limitedTo.has('mcp:call')

type FindPlaces = (query: string, limit: number, isThere: (place: number) => boolean) => Promise<number[]>

/** Fuses the order by words with the one by meaning, as long as that is known. */
const findByBoth =
  (findByWords: FindPlaces, meanings: ToolMeanings): FindPlaces =>
  async (query, limit, isThere) => {
    const near = await meanings.find(query, isThere)
    if (near === undefined) return findByWords(query, limit, isThere)
    return fuseOrders([await findByWords(query, NEAREST_TOOLS, isThere), near]).slice(0, limit)
  }

/** The tools, to be asked in words. They are read when somebody asks for the first time. */
export const createToolSearch = (tools: readonly Found[], { finder, embeddings, unlisted }: ToolSearchParts) => {
  let listed: Promise<ToolIndex> | undefined
  const findByWords: FindPlaces = async (query, limit, isThere) => {
    listed ??= finder.buildIndex(tools)
    return (await listed).find(query, limit, isThere)
  }
  const meanings = embeddings?.prepare(tools)
  const findByAll = meanings === undefined ? findByWords : findByBoth(findByWords, meanings)

  /** Those that an upstream has for this client alone: few, so that they are read anew each time. */
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
    // One that only this client has would never be among many: each second place is theirs, until there are no more.
    return found
      .flatMap((tool, at) => [tool, ...own.slice(at, at + 1)])
      .concat(own.slice(found.length))
      .slice(0, limit)
  }
  return {
    find: (query: string, limit: number, context: CallContext) => findWith(findByAll, query, limit, context),
    /** By words alone: of a name it is how it is written that may be wrong. */
    findNamed: (name: string, limit: number, context: CallContext) => findWith(findByWords, name, limit, context),
  }
}
export type ToolSearch = ReturnType<typeof createToolSearch>
