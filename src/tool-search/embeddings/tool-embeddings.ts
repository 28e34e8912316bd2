import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { MAX_QUERY_CHARACTERS } from '../ranking/tool-index.ts'
import { type ToolText, textOfTool } from '../ranking/tool-words.ts'
import { createEmbeddingEndpoint, EmbeddingError, type EmbeddingSettings, MAX_TEXTS } from './embedding-endpoint.ts'
import { listNearest } from './nearest.ts'

/** Timeout of a request for tools' embeddings, which no search waits for. */
const TOOLS_TIMEOUT_MS = 30_000
/** Cache size for all servers together: 20,000 tools with 1,536 numbers each. */
const MAX_BYTES = 128 * 1_024 * 1_024
/** Approximate overhead of a cache entry. */
const BYTES_BESIDES = 200
/** Minimum time between two log messages about a failing endpoint. */
const LOG_EVERY_MS = 600_000
/** How many of the nearest tools are merged with those found by words. */
export const NEAREST_TOOLS = 30

export type EmbeddingLimits = {
  /** Timeout of a query's embedding, which a search waits for. */
  queryMs: number
  /** Time without requests after a failure, and before embedding tools again that did not fit the cache. */
  pauseMs: number
}
const USUAL_LIMITS: EmbeddingLimits = { queryMs: 500, pauseMs: 10_000 }

type ToolEmbeddingsParts = {
  settings: EmbeddingSettings
  logger: { warn: (details: object, message: string) => void }
  limits?: Partial<EmbeddingLimits> | undefined
}

export type ToolMeanings = {
  /**
   * Returns the indexes of the tools nearest to a query, nearest first. Returns undefined if some
   * tools have no embedding yet, or if the query's embedding did not arrive in time. Never rejects.
   */
  find: (query: string, isAllowed: (place: number) => boolean) => Promise<number[] | undefined>
}

/** Embeddings of tools and queries, cached for all servers together. */
export const createToolEmbeddings = ({ settings, logger, limits }: ToolEmbeddingsParts) => {
  const { queryMs, pauseMs } = { ...USUAL_LIMITS, ...limits }
  const forTools = createEmbeddingEndpoint(settings, TOOLS_TIMEOUT_MS)
  const forQueries = createEmbeddingEndpoint(settings, queryMs)
  const vectors = new LRUCache<string, Float32Array>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + BYTES_BESIDES,
  })
  let loggedAt = Number.NEGATIVE_INFINITY
  let isClosed = false
  let lastTurn: Promise<unknown> = Promise.resolve()

  const noteFault = (error: unknown): void => {
    if (isClosed || performance.now() - loggedAt < LOG_EVERY_MS) return
    loggedAt = performance.now()
    const reason = error instanceof EmbeddingError ? error.message : 'unknown reason'
    logger.warn({ reason }, 'the embeddings endpoint failed, so tools are found by words only')
  }

  /** Requests embeddings. After a failure, makes no request for `pauseMs`. */
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
  const askForQuery = createAsking(forQueries)

  /** Runs requests for tools one at a time, so that servers alternate. */
  const inTurn = <Made>(work: () => Promise<Made>): Promise<Made> => {
    const made = lastTurn.then(work)
    lastTurn = made.catch(() => {})
    return made
  }

  /** Embeds the next few tools without a vector. Returns the index to continue from, or undefined to stop. */
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
    const asked = (await askForQuery([query]))?.[0]
    if (asked === undefined) return undefined
    if (known.every(({ length }) => length === asked.length)) {
      return listNearest(asked, known, NEAREST_TOOLS, isAllowed)
    }
    noteFault(new EmbeddingError('its embeddings differ in length'))
    return undefined
  }

  return {
    /** Starts to embed the tools in the background. After a failure, the next search continues. */
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
      const beginFilling = (): void => {
        if (performance.now() < notBefore) return
        notBefore = Number.POSITIVE_INFINITY
        void fill()
          .catch(noteFault)
          .finally(() => {
            notBefore = performance.now() + pauseMs
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
