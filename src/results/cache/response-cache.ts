import { createHmac, hash, randomBytes } from 'node:crypto'
import type { CallResult } from '../../history/call-result.ts'
import { createGroupedLru } from '../../lib/cache/grouped-lru.ts'
import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import type { CallContext } from '../../runtime/call/compiled-tool.ts'
import {
  type BlocksResult,
  isErrorResult,
  isPassed,
  isRefused,
  type PassedResult,
  type ToolResult,
  type UpstreamResult,
} from '../../runtime/call/tool-result.ts'
import type { Caller } from '../../servers/access/access.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import type { Bindings, Instance } from '../../servers/server.ts'
import type { RenderedRequest } from '../../templates/template.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { CompiledDefinition } from '../../tools/tool-definition.ts'
import type { ShapedResult } from '../shape/structured-result.ts'
import { type CacheEntry, compact, sizeOf } from './cached-result.ts'
import { bypassesCache, type FreshnessRules, freshMsOf, headerText } from './freshness.ts'

/** Memory limits in bytes. */
const LIMITS = {
  // The limit per result. The budget cuts results long before this size, so no model reads more.
  maxResultBytes: 1_024 * 1_024,
  maxBytes: 64 * 1_024 * 1_024,
}
/** Share of the cache that one server may fill. */
const SERVER_SHARE = 1 / 4
const PURGE_EVERY_MS = 60_000

/** `now` returns a number of milliseconds greater than 0. */
export type ResponseCacheOptions = { limits?: Partial<typeof LIMITS & { maxServerBytes: number }>; now?: () => number }

/** A new response from an API, and the result built from it. */
export type FreshResult = ShapedResult & {
  response: OutboundResponse
  /** A line that tells the model how to get the next page of results. */
  nextPage?: string | undefined
}

/** A result from the cache, and its age. */
export type CachedResult<Result extends CacheEntry['result'] = ToolResult> = CacheEntry<Result> & { ageMs: number }

/** Returns a result from the cache or, if there is none, sends the request. Rejects if `send` rejects. */
export type CachedSend = (
  request: RenderedRequest,
  signal: StopSignal | undefined,
  send: (signal: StopSignal | undefined) => Promise<FreshResult>,
) => Promise<FreshResult | CachedResult>

/** A new result from an upstream. `shapedFrom` is the result before shaping. */
export type FreshPassedResult = {
  result: BlocksResult | UpstreamResult
  callResult: CallResult
  responseBytes: number
  shapedFrom?: PassedResult | undefined
  schemaMismatch?: string | undefined
}

/** Like `CachedSend`, but for an upstream's tool. `input` is everything on which the result may depend. */
type CachedUpstreamSend = (
  input: JsonValue,
  signal: StopSignal,
  send: (signal: StopSignal) => Promise<FreshPassedResult>,
) => Promise<FreshPassedResult | CachedResult<PassedResult>>

/** Returns undefined for calls whose results must not be cached. */
export type UpstreamToolCache = (call: Pick<CallContext, 'caller' | 'link'>) => CachedUpstreamSend | undefined

/** `fingerprint` represents everything on which results depend, except the call. */
export type CachedUpstreamTool = { serverId: string; fingerprint: string; cacheSeconds: number; isShared: boolean }

export const isCached = <Fresh extends object, Cached extends { ageMs: number }>(
  result: Fresh | Cached,
): result is Cached => 'ageMs' in result

/** Content-negotiation headers. Any other header may identify the caller. */
const CHOOSES_FORM = /^(accept|accept-(language|charset|encoding)|content-type|prefer)$/i

const callerFillsHeader = (tool: ToolDefinition, compiled: CompiledDefinition, bindings: Bindings): boolean =>
  compiled.parameters.some(
    ({ parameter: { name, places } }) =>
      bindingOf(bindings, name).source === 'exposed' &&
      places.some(({ kind, field }) => {
        const [, index = ''] = /^headers\[(\d+)\]/.exec(field) ?? []
        return (kind === 'header' || kind === 'cookie') && !CHOOSES_FORM.test(tool.headers[Number(index)]?.name ?? '')
      }),
  )

/** Hashes everything on which a tool's results depend, except the request and the caller. */
export const fingerprintOf = (...parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'base64')

const isComplete = (result: PassedResult): boolean =>
  !isErrorResult(result) && result.passed.resultType !== 'input_required'

/** The cacheable part of a fresh result, and its lifetime in milliseconds. */
type Cacheable<Result extends CacheEntry['result']> = Omit<CacheEntry<Result>, 'cachedAtMs'> & { freshMs: number }

/**
 * Type guard for the results of one kind of tool. Each kind of tool has its own kind of result, and keys of different
 * kinds never collide.
 */
type IsKind<Result extends CacheEntry['result']> = (result: CacheEntry['result']) => result is Result
const isToolResult = (result: CacheEntry['result']): result is ToolResult => !isPassed(result)

/** Caches results of read-only tools in the memory of this process, as their APIs and builders allow. */
export const createResponseCache = (options: ResponseCacheOptions = {}) => {
  const limits = { ...LIMITS, ...options.limits }
  const { maxBytes, maxServerBytes = maxBytes * SERVER_SHARE } = limits
  const { now = () => performance.now() } = options
  const entries = createGroupedLru<CacheEntry>({ maxSize: maxBytes, maxGroupSize: maxServerBytes, now })
  const flights = createSingleFlight<CacheEntry | undefined>()
  /** Key with which cache keys are hashed, so that nobody can guess a request from its cache key. */
  const secret = randomBytes(32)
  let purgedAtMs = now()

  const keyOf = (serverId: string, ...inputs: readonly unknown[]): string =>
    `${serverId} ${createHmac('sha256', secret).update(JSON.stringify(inputs)).digest('base64')}`

  const purge = (): void => {
    if (now() - purgedAtMs < PURGE_EVERY_MS) return
    purgedAtMs = now()
    entries.purge()
  }

  const add = (serverId: string, key: string, entry: CacheEntry, freshMs: number): void => {
    purge()
    const result = compact(entry.result)
    const size = sizeOf(result)
    if (size <= limits.maxResultBytes) entries.set(serverId, key, { ...entry, result }, size, freshMs)
  }

  const toCached = <Result extends CacheEntry['result']>(
    entry: CacheEntry | undefined,
    isKind: IsKind<Result>,
  ): CachedResult<Result> | undefined => {
    if (entry === undefined) return undefined
    const { result, ...rest } = entry
    return isKind(result) ? { ...rest, result, ageMs: Math.max(0, now() - entry.cachedAtMs) } : undefined
  }

  /** Returns the cached result. If there is none, sends one request for all concurrent callers. */
  const getOrSend = async <Fresh, Result extends CacheEntry['result']>(
    { serverId, key, signal }: { serverId: string; key: string; signal: StopSignal | undefined },
    send: (signal: StopSignal | undefined) => Promise<Fresh>,
    toCacheable: (fresh: Fresh) => Cacheable<Result> | undefined,
    isKind: IsKind<Result>,
  ): Promise<Fresh | CachedResult<Result>> => {
    const found = toCached(entries.get(key), isKind)
    if (found !== undefined) return found
    const own: { fresh?: { value: Fresh } } = {}
    const entry = await flights.join(key, signal, async (stop, isCurrent) => {
      own.fresh = { value: await send(stop) }
      const cacheable = toCacheable(own.fresh.value)
      if (cacheable === undefined || cacheable.freshMs === 0) return undefined
      const { freshMs, ...rest } = cacheable
      const made = { ...rest, cachedAtMs: now() }
      if (isCurrent()) add(serverId, key, made, freshMs)
      return made
    })
    if (own.fresh !== undefined) return own.fresh.value
    // The request was cancelled, or its response must not be shared by two calls (RFC 9111 §4).
    return toCached(entry, isKind) ?? send(signal)
  }

  const cachedSendOf =
    (serverId: string, fingerprint: string, rules: FreshnessRules, owner: string | null): CachedSend =>
    async (request, signal, send) => {
      if (signal?.aborted || bypassesCache(request)) return send(signal)
      const { method, url, headers, body } = request
      const key = keyOf(serverId, fingerprint, owner, method, url, headers, body ?? null)
      const toCacheable = ({
        result,
        response,
        schemaMismatch,
        nextPage,
      }: FreshResult): Cacheable<ToolResult> | undefined => {
        if (isErrorResult(result)) return undefined
        return {
          result,
          status: response.status,
          responseBytes: response.body.length,
          contentType: headerText(response.headers, 'content-type'),
          schemaMismatch,
          nextPage,
          freshMs: freshMsOf(request, response, rules),
        }
      }
      return getOrSend({ serverId, key, signal }, send, toCacheable, isToolResult)
    }

  const cachedUpstreamSendOf =
    ({ serverId, fingerprint, cacheSeconds }: CachedUpstreamTool, owner: string | null): CachedUpstreamSend =>
    async (input, signal, send) => {
      if (signal.aborted) return send(signal)
      const toCacheable = ({
        result,
        responseBytes,
        schemaMismatch,
      }: FreshPassedResult): Cacheable<PassedResult> | undefined => {
        if (isRefused(result) || !isPassed(result) || !isComplete(result)) return undefined
        return { result, status: undefined, responseBytes, schemaMismatch, freshMs: cacheSeconds * 1_000 }
      }
      const key = keyOf(serverId, fingerprint, owner, input)
      return getOrSend({ serverId, key, signal }, stop => send(stop ?? signal), toCacheable, isPassed)
    }

  return {
    /**
     * Returns a function that gives each caller a caching `send`, or undefined if the tool's results are not cached.
     * `version` changes with everything outside the instance that affects results, such as the server's globals.
     */
    ofTool: (
      instance: Instance,
      compiled: CompiledDefinition,
      version: () => string,
    ): ((caller: Caller) => CachedSend | undefined) | undefined => {
      const { serverId, tool, bindings } = instance
      const { cacheSeconds, cacheShared, annotations } = tool
      // Only the builder knows whether a request is safe: a GET may change things, and a POST may be a search.
      if (cacheSeconds === undefined || annotations?.readOnlyHint !== true) return undefined
      const fingerprint = fingerprintOf(instance, version())
      // A header that the caller fills in may identify them, so the result is not shared, whatever the tool allows.
      const isShared = cacheShared === true && !callerFillsHeader(tool, compiled, bindings)
      const rules = { cacheSeconds, isShared }
      const shared = isShared ? cachedSendOf(serverId, fingerprint, rules, null) : undefined
      // Anonymous callers cannot be told apart, so they get only shared results.
      return caller => shared ?? (caller && cachedSendOf(serverId, fingerprint, rules, caller.userId))
    },
    /**
     * Like `ofTool`, but for an upstream's tool. If the upstream can send requests to the client, results depend on the
     * client's responses and are not shared.
     */
    ofUpstreamTool: (tool: CachedUpstreamTool): UpstreamToolCache => {
      const shared = tool.isShared ? cachedUpstreamSendOf(tool, null) : undefined
      return ({ caller, link }) =>
        (link?.peer === undefined ? shared : undefined) ?? (caller && cachedUpstreamSendOf(tool, caller.userId))
    },
    /** Deletes the results of a changed or removed server. Results of its current calls are not cached. */
    deleteServer: (serverId: string): void => {
      flights.forget(`${serverId} `)
      entries.deleteGroup(serverId)
    },
    clear: (): void => {
      flights.forget()
      entries.clear()
    },
    /** Returns how much is cached, and how many calls are waiting for a shared request. */
    stats: () => ({ ...entries.stats(), waiting: flights.waiting() }),
  }
}

export type ResponseCache = ReturnType<typeof createResponseCache>
