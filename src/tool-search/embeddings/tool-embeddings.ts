import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { mapInTurns } from '../pause.ts'
import { type ToolText, textOfTool } from '../ranking/index.ts'
import { createEmbeddingEndpoint, EmbeddingError, type EmbeddingSettings, MAX_TEXTS } from './embedding-endpoint.ts'
import { listNearest } from './nearest.ts'

/** For the vectors of a few tools, which nobody waits for. */
const TOOLS_TIMEOUT_MS = 30_000
/** Of all servers together: 20,000 tools at 1,536 numbers each. */
const MAX_BYTES = 128 * 1_024 * 1_024
/** What keeping one costs besides its numbers, about. */
const BYTES_BESIDES = 200
/** As long a fault that goes on is not logged again. */
const LOG_EVERY_MS = 600_000
/** As the ranking by words reads of a question. */
const MAX_QUERY_CHARACTERS = 1_000
/** Of the nearest, so many are set beside those that words find. */
export const NEAREST_TOOLS = 30

export type EmbeddingLimits = {
  /** For the vector of a question, which a search waits for. */
  queryMs: number
  /** As long nothing is asked after a fault, and no tools are asked for again that there is no room for. */
  pauseMs: number
}
const USUAL_LIMITS: EmbeddingLimits = { queryMs: 500, pauseMs: 10_000 }

type ToolEmbeddingsParts = {
  settings: EmbeddingSettings
  logger: { warn: (details: object, message: string) => void }
  limits?: Partial<EmbeddingLimits> | undefined
}

/** Tools by what they mean. */
export type ToolMeanings = {
  /**
   * Places of the tools that are nearest to a question, the nearest first. Undefined where that is not known now: not all
   * tools have vectors yet, or the question got none in time. Never rejects.
   */
  find: (query: string, isAllowed: (place: number) => boolean) => Promise<number[] | undefined>
}

/** The vectors of what tools say of themselves and of what is asked for, shared by all servers. */
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
    logger.warn({ reason }, 'the embeddings endpoint does not answer as it should: tools are found by words alone')
  }

  /** Asks, and after a fault not again for a while. */
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

  /** One request for tools at a time, and each server in its turn. */
  const inTurn = <Made>(work: () => Promise<Made>): Promise<Made> => {
    const made = lastTurn.then(work)
    lastTurn = made.catch(() => {})
    return made
  }

  /** Has the next few that lack a vector embedded; answers where to go on, or undefined where that makes no sense. */
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

  /** The vectors of all, or undefined where one is missing. */
  const listVectors = (keys: readonly string[]): Float32Array[] | undefined => {
    const all: Float32Array[] = []
    for (const key of keys) {
      const vector = vectors.get(key)
      if (vector === undefined) return undefined
      all.push(vector)
    }
    return all
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
    noteFault(new EmbeddingError('its embeddings are not of one length'))
    return undefined
  }

  return {
    /** Begins to have the tools embedded, which nobody waits for; goes on with the next search where it could not. */
    prepare: (tools: readonly ToolText[]): ToolMeanings => {
      let keys: readonly string[] | undefined
      let notBefore = Number.NEGATIVE_INFINITY

      const fill = async (): Promise<void> => {
        // Whoever has mounted the server, or searches it, goes on first.
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
