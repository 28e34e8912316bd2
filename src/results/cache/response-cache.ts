import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { OutboundResponse } from '../../lib/outbound/http-client.ts'
import {
  type BlocksResult,
  type CallContext,
  type Caller,
  isPassed,
  isRefused,
  type PassedAnswer,
  type PassedResult,
  type ToolResult,
} from '../../runtime/call/compiled-server.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import type { Bindings, Instance } from '../../servers/server.ts'
import type { RenderedRequest } from '../../templates/template.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { CompiledDefinition } from '../../tools/tool-definition.ts'
import { type AnswerKeepingOptions, createAnswerShelves, type KeptAnswer } from './cached-result.ts'
import { createFlights } from '../../lib/cache/single-flight.ts'
import { asksAnew, type FreshnessRules, freshMsOf, textOf } from './freshness.ts'

/** What an API has answered just now, and what was made of it. `isUsable`: it is no failure. */
type FreshAnswer = { result: ToolResult; response: OutboundResponse; isUsable: boolean }

/** An answer that nobody was asked for, and how old it is. */
export type AnswerAgain<Result extends KeptAnswer['result'] = ToolResult> = KeptAnswer<Result> & { ageMs: number }

/** Answers a request, out of what is kept or by sending it. Rejects as `send` does. */
export type AnswerKeeping = (
  request: RenderedRequest,
  signal: StopSignal | undefined,
  send: (signal: StopSignal | undefined) => Promise<FreshAnswer>,
) => Promise<FreshAnswer | AnswerAgain>

/** How a tool keeps answers for a caller; undefined where it keeps none. */
type CallerKeeping = (caller: Caller) => AnswerKeeping | undefined

/**
 * What an upstream has answered just now; nothing is kept of what is no result yet, or says an error. `shapedFrom`: the
 * answer before it was shaped.
 */
export type PassedFresh = {
  result: BlocksResult | PassedAnswer
  responseBytes: number
  shapedFrom?: PassedResult | undefined
}

/** The same for a call of an upstream's tool. `asked`: its arguments, and what else the client has said with them. */
type PassedKeeping = (
  asked: JsonValue,
  signal: StopSignal,
  send: (signal: StopSignal) => Promise<PassedFresh>,
) => Promise<PassedFresh | AnswerAgain<PassedResult>>

/** How a tool of an upstream keeps answers for a call; undefined where it keeps none. */
export type UpstreamKeeping = (call: Pick<CallContext, 'caller' | 'link'>) => PassedKeeping | undefined

/** A tool of an upstream that keeps its answers; `stamp`: of everything that they depend on but the call. */
export type KeptUpstreamTool = { serverId: string; stamp: string; cacheSeconds: number; isShared: boolean }

export const isAgain = <Fresh extends object, Again extends { ageMs: number }>(
  answer: Fresh | Again,
): answer is Again => 'ageMs' in answer

/**
 * Headers that say who asks go to an API in many names, so that any which a caller fills counts as one, but for those
 * that only choose between forms of the same answer.
 */
const CHOOSES_FORM = /^(accept|accept-(language|charset|encoding)|content-type|prefer)$/i

const callerFillsHeader = (tool: ToolDefinition, compiled: CompiledDefinition, bindings: Bindings): boolean =>
  compiled.parameters.some(
    ({ parameter: { name, places } }) =>
      bindingOf(bindings, name).source === 'exposed' &&
      places.some(({ kind, field }) => {
        const [, index = ''] = /^headers\[(\d+)\]/.exec(field) ?? []
        return kind === 'header' && !CHOOSES_FORM.test(tool.headers[Number(index)]?.name ?? '')
      }),
  )

/** Of everything that an answer depends on but the request and who makes it: another stamp finds nothing of this one. */
export const stampOf = (...made: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(made)).digest('base64')

/** It is an answer, and no error. */
const isWhole = ({ passed: { isError, resultType } }: PassedResult): boolean =>
  isError !== true && resultType !== 'input_required'

/** What is kept of a fresh answer, and for how long, in milliseconds. */
type Worth<Result extends KeptAnswer['result']> = Omit<KeptAnswer<Result>, 'answeredAtMs'> & { freshMs: number }

/** Of two kinds of results the one that a tool has: the keys of the kinds differ. */
type IsKind<Result extends KeptAnswer['result']> = (result: KeptAnswer['result']) => result is Result
const isOwn = (result: KeptAnswer['result']): result is ToolResult => !isPassed(result)

/** Answers of read-only tools that are given again to the same request, as their API and the tools themselves allow. */
export const createAnswerKeeping = (options: AnswerKeepingOptions = {}) => {
  const store = createAnswerShelves(options)
  const flights = createFlights<KeptAnswer | undefined>()
  /** Of this process alone: what is in a request cannot be guessed from its key. */
  const secret = randomBytes(32)

  const keyOf = (...asked: readonly unknown[]): string =>
    createHmac('sha256', secret).update(JSON.stringify(asked)).digest('base64')

  const findAgain = <Result extends KeptAnswer['result']>(
    kept: KeptAnswer | undefined,
    isKind: IsKind<Result>,
  ): AnswerAgain<Result> | undefined => {
    if (kept === undefined) return undefined
    const { result, ...rest } = kept
    return isKind(result) ? { ...rest, result, ageMs: Math.max(0, store.now() - kept.answeredAtMs) } : undefined
  }

  /** What is kept under a key, or comes by sending; `worthOf` says what of that is kept. */
  const answer = async <Fresh, Result extends KeptAnswer['result']>(
    { serverId, key, signal }: { serverId: string; key: string; signal: StopSignal | undefined },
    send: (signal: StopSignal | undefined) => Promise<Fresh>,
    worthOf: (fresh: Fresh) => Worth<Result> | undefined,
    isKind: IsKind<Result>,
  ): Promise<Fresh | AnswerAgain<Result>> => {
    const found = findAgain(store.find(serverId, key), isKind)
    if (found !== undefined) return found
    const own: { fresh?: { value: Fresh } } = {}
    const flown = await flights.join({ group: serverId, key }, signal, async (stop, isCurrent) => {
      own.fresh = { value: await send(stop) }
      const worth = worthOf(own.fresh.value)
      if (worth === undefined || worth.freshMs === 0) return undefined
      const { freshMs, ...rest } = worth
      const kept = { ...rest, answeredAtMs: store.now() }
      if (isCurrent()) store.keep(serverId, key, kept, freshMs)
      return kept
    })
    // Cancelled: sending says so, in the words of every other call.
    if (flown === undefined) return send(signal)
    if (own.fresh !== undefined) return own.fresh.value
    // An answer that may not be given twice was for the call that asked for it (RFC 9111 §4).
    return findAgain(flown.value, isKind) ?? send(signal)
  }

  const keepingOf =
    (serverId: string, stamp: string, rules: FreshnessRules, owner: string | null): AnswerKeeping =>
    async (request, signal, send) => {
      if (signal?.aborted || asksAnew(request)) return send(signal)
      const { method, url, headers, body } = request
      const key = keyOf(stamp, owner, method, url, headers, body ?? null)
      const worthOf = ({ result, response, isUsable }: FreshAnswer): Worth<ToolResult> | undefined => {
        if (!isUsable) return undefined
        const freshMs = freshMsOf(request, response, rules)
        const { status, body } = response
        return {
          result,
          status,
          responseBytes: body.length,
          contentType: textOf(response.headers, 'content-type'),
          freshMs,
        }
      }
      return answer({ serverId, key, signal }, send, worthOf, isOwn)
    }

  const passedKeepingOf =
    ({ serverId, stamp, cacheSeconds }: KeptUpstreamTool, owner: string | null): PassedKeeping =>
    async (asked, signal, send) => {
      if (signal.aborted) return send(signal)
      const worthOf = ({ result, responseBytes }: PassedFresh): Worth<PassedResult> | undefined => {
        if (isRefused(result) || !isPassed(result) || !isWhole(result)) return undefined
        return { result, status: undefined, responseBytes, freshMs: cacheSeconds * 1_000 }
      }
      const key = keyOf(stamp, owner, asked)
      return answer({ serverId, key, signal }, stop => send(stop ?? signal), worthOf, isPassed)
    }

  return {
    /**
     * How a tool at work keeps its answers; undefined where it does not. `version` says what the instance does not of
     * what answers are made with, such as the server's globals.
     */
    ofTool: (instance: Instance, compiled: CompiledDefinition, version: () => string): CallerKeeping | undefined => {
      const { serverId, tool, bindings } = instance
      const { cacheSeconds, cacheShared, annotations } = tool
      // Only by the builder's own word: a GET may change things, and a POST may be a search.
      if (cacheSeconds === undefined || annotations?.readOnlyHint !== true) return undefined
      const stamp = stampOf(instance, version())
      // What callers say of themselves is theirs: such an answer stays with each, whatever the tool says.
      const isShared = cacheShared === true && !callerFillsHeader(tool, compiled, bindings)
      const rules = { cacheSeconds, isShared }
      const shared = isShared ? keepingOf(serverId, stamp, rules, null) : undefined
      // Strangers cannot be told apart: nothing is kept that is not for everybody.
      return caller => shared ?? (caller && keepingOf(serverId, stamp, rules, caller.userId))
    },
    /**
     * The same of an upstream's tool. A client that the upstream can ask something has a connection of its own: what comes
     * of that, and of what was asked, is not for others.
     */
    ofUpstreamTool: (tool: KeptUpstreamTool): UpstreamKeeping => {
      const shared = tool.isShared ? passedKeepingOf(tool, null) : undefined
      return ({ caller, link }) =>
        (link?.peer === undefined ? shared : undefined) ?? (caller && passedKeepingOf(tool, caller.userId))
    },
    /** Lets go of what is kept of a server, and of what would be: it has changed, or is gone. */
    forgetServer: (serverId: string): void => {
      flights.close(serverId)
      store.forgetServer(serverId)
    },
    forgetAll: (): void => {
      flights.close()
      store.forgetAll()
    },
    /** What is held now, and how many calls wait for an answer that may be for others too. */
    stats: () => ({ ...store.stats(), waiting: flights.waiting() }),
  }
}

export type AnswerKeepings = ReturnType<typeof createAnswerKeeping>
