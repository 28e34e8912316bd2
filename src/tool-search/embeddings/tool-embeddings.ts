import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { formatBytes, formatNumber } from '../../lib/kernel/format.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { MAX_QUERY_CHARACTERS } from '../ranking/tool-index.ts'
import { type ToolText, textOfTool } from '../ranking/tool-words.ts'
import { createEmbeddingEndpoint, EmbeddingError, type EmbeddingSettings, MAX_TEXTS } from './embedding-endpoint.ts'
import { listNearest } from './nearest.ts'

/** Timeout of a request for tool embeddings. No search waits for these requests. */
const TOOLS_TIMEOUT_MS = 30_000
/** Approximate overhead of a cache entry. */
const BYTES_BESIDES = 200
/** Minimum time between two log messages about a failing endpoint. */
const LOG_EVERY_MS = 600_000
/** Number of nearest tools that are merged with the tools found by keywords. */
export const NEAREST_TOOLS = 30

export type EmbeddingLimits = {
  /** Timeout for embedding a query, which the search waits for. */
  queryMs: number
  /** Pause without requests after a failure, and before tools that did not fit in the cache are embedded again. */
  pauseMs: number
  /** Cache size for all servers together. */
  maxBytes: number
}
const USUAL_LIMITS: EmbeddingLimits = {
  queryMs: 500,
  pauseMs: 10_000,
  // Enough for 20,000 tools with 1,536 numbers each.
  maxBytes: 128 * 1_024 * 1_024,
}

/** The embeddings of a server's tools do not fit in the memory. */
class TooManyToolsError extends EmbeddingError {}

type ToolEmbeddingsParts = {
  settings: EmbeddingSettings
  logger: { warn: (details: object, message: string) => void }
  limits?: Partial<EmbeddingLimits> | undefined
}

export type ToolMeanings = {
  /**
   * Returns the indexes of the tools nearest to a query, nearest first. Returns undefined if some tools have no
   * embedding yet or if embedding the query took too long. Never rejects.
   */
  find: (query: string, isAllowed: (place: number) => boolean) => Promise<number[] | undefined>
}

/** Creates the embeddings of tools and queries, with one cache for all servers. */
export const createToolEmbeddings = ({ settings, logger, limits }: ToolEmbeddingsParts) => {
  const { queryMs, pauseMs, maxBytes } = { ...USUAL_LIMITS, ...limits }
  const forTools = createEmbeddingEndpoint(settings, TOOLS_TIMEOUT_MS)
  const forQueries = createEmbeddingEndpoint(settings, queryMs)
  const vectors = new LRUCache<string, Float32Array>({
    maxSize: maxBytes,
    sizeCalculation: ({ byteLength }) => byteLength + BYTES_BESIDES,
  })
  let loggedAt = Number.NEGATIVE_INFINITY
  let isClosed = false
  let lastTurn: Promise<unknown> = Promise.resolve()

  const noteFault = (error: unknown): void => {
    if (isClosed || performance.now() - loggedAt < LOG_EVERY_MS) return
    loggedAt = performance.now()
    const reason = error instanceof EmbeddingError ? error.message : 'unknown reason'
    logger.warn({ reason }, 'there are no embeddings, so tools are found by words only')
  }

  /** Creates a function that requests embeddings. After a failure, it sends no requests for `pauseMs`. */
  const createAsking = ({ embed }: Pick<typeof forTools, 'embed'>) => {
    let quietUntil = Number.NEGATIVE_INFINITY
    return async (texts: readonly string[]): Promise<Float32Array[] | undefined> => {
      if (isClosed || performance.now() < quietUntil) return undefined
      try {
        return await embed(texts)
      } catch (error) {
        quietUntil = performance.now() + pauseMs
        noteFault(error)
        return undefined
      }
    }
  }
  const askForTools = createAsking(forTools)
  const askForQueries = createAsking(forQueries)
  let waiting: { texts: string[]; vectors: Promise<Float32Array[] | undefined> } | undefined

  const sendWaiting = async (texts: readonly string[]): Promise<Float32Array[] | undefined> => {
    // Lets the other phrasings of the same search join the request.
    await Promise.resolve()
    waiting = undefined
    return askForQueries(texts)
  }
  const askForQuery = async (query: string): Promise<Float32Array | undefined> => {
    if (waiting === undefined || waiting.texts.length === MAX_TEXTS) {
      const texts: string[] = []
      waiting = { texts, vectors: sendWaiting(texts) }
    }
    const { texts, vectors } = waiting
    const place = texts.push(query) - 1
    return (await vectors)?.[place]
  }

  /** Runs requests for tool embeddings one at a time, so that servers take turns. */
  const inTurn = <Made>(work: () => Promise<Made>): Promise<Made> => {
    const made = lastTurn.then(work)
    lastTurn = made.catch(() => {})
    return made
  }

  /** Embeds the next few tools that have no vector. Returns the index to continue from, or undefined to stop. */
  const fillSome = async (tools: readonly ToolText[], keys: readonly string[], from: number) => {
    const texts = new Map<string, string>()
    let next = from
    for (; next < tools.length && texts.size < MAX_TEXTS; next++) {
      const [tool, key] = [tools[next], keys[next]]
      if (tool !== undefined && key !== undefined && !vectors.has(key)) texts.set(key, textOfTool(tool))
    }
    if (texts.size === 0) return undefined
    const found = await askForTools([...texts.values()])
    if (found === undefined) return undefined
    const neededBytes = tools.length * ((found[0]?.byteLength ?? 0) + BYTES_BESIDES)
    if (neededBytes > maxBytes) {
      const needed = `the embeddings of ${formatNumber(tools.length)} tools need ${formatBytes(neededBytes)} of memory`
      throw new TooManyToolsError(`${needed}, and there are ${formatBytes(maxBytes)}; raise PATCHBAY_MEMORY_MB`)
    }
    for (const [at, key] of [...texts.keys()].entries()) vectors.set(key, found[at])
    return next
  }

  /** Returns all vectors, or undefined if one is missing. */
  const listVectors = (keys: readonly string[]): Float32Array[] | undefined => {
    const all = keys.flatMap(key => vectors.get(key) ?? [])
    return all.length === keys.length ? all : undefined
  }

  const findNearest = async (
    query: string,
    known: readonly Float32Array[],
    isAllowed: (place: number) => boolean,
  ): Promise<number[] | undefined> => {
    const asked = await askForQuery(query)
    if (asked === undefined) return undefined
    if (known.every(({ length }) => length === asked.length)) {
      return listNearest(asked, known, NEAREST_TOOLS, isAllowed)
    }
    noteFault(new EmbeddingError('its embeddings differ in length'))
    return undefined
  }

  return {
    /** Starts embedding the tools in the background. After a failure, the next search resumes the work. */
    prepare: (tools: readonly ToolText[]): ToolMeanings => {
      let keys: readonly string[] | undefined
      let notBefore = Number.NEGATIVE_INFINITY

      const fill = async (): Promise<void> => {
        // Lets the mount or search that started this continue first.
        await setImmediate()
        keys ??= await mapInTurns(tools, tool => hash('sha256', textOfTool(tool), 'base64'))
        const places = keys
        let next: number | undefined = 0
        while (next !== undefined) {
          const from: number = next
          next = await inTurn(() => fillSome(tools, places, from))
        }
      }
      const resumeLater = (): void => {
        notBefore = performance.now() + pauseMs
      }
      const beginFilling = (): void => {
        if (performance.now() < notBefore) return
        notBefore = Number.POSITIVE_INFINITY
        void fill().then(resumeLater, (error: unknown) => {
          noteFault(error)
          if (!(error instanceof TooManyToolsError)) resumeLater()
        })
      }
      beginFilling()

      return {
        find: async (query, isAllowed) => {
          const text = query.slice(0, MAX_QUERY_CHARACTERS).trim().toWellFormed()
          if (text === '' || tools.length === 0) return undefined
          const known = keys && listVectors(keys)
          if (known !== undefined) return findNearest(text, known, isAllowed)
          beginFilling()
          return undefined
        },
      }
    },

    close: async (): Promise<void> => {
      isClosed = true
      await Promise.all([forTools.close(), forQueries.close()])
    },
  }
}

export type ToolEmbeddings = ReturnType<typeof createToolEmbeddings>
