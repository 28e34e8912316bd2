import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { StopSignal } from '../../kernel/index.ts'
import type { OutboundResponse } from '../../platform/net/index.ts'
import { type Bindings, bindingOf, type Instance } from '../../servers/index.ts'
import type { RenderedRequest } from '../../templates/index.ts'
import type { CompiledDefinition, ToolDefinition } from '../../toolkits/index.ts'
import type { Caller, ToolResult } from '../compiled-server.ts'
import { type AnswerKeepingOptions, createAnswerShelves, type KeptAnswer } from './answer-shelves.ts'
import { createFlights } from './flights.ts'
import { asksAnew, freshMsOf } from './freshness.ts'

/** What an API has answered just now, and what was made of it. `isUsable`: it is no failure. */
export type FreshAnswer = { result: ToolResult; response: OutboundResponse; isUsable: boolean }

/** An answer that no request was made for, and how old it is. */
export type AnswerAgain = KeptAnswer & { ageMs: number }

/** Answers a request, out of what is kept or by sending it. Rejects as `send` does. */
export type AnswerKeeping = (
  request: RenderedRequest,
  signal: StopSignal | undefined,
  send: (signal: StopSignal | undefined) => Promise<FreshAnswer>,
) => Promise<FreshAnswer | AnswerAgain>

/** How a tool keeps answers for a caller; undefined where it keeps none. */
export type CallerKeeping = (caller: Caller) => AnswerKeeping | undefined

export const isAgain = (answer: FreshAnswer | AnswerAgain): answer is AnswerAgain => 'ageMs' in answer

/** What came of a request that several calls may wait for. Nothing kept: then it answers the one call that made it. */
type Flown = { fresh: FreshAnswer; kept: KeptAnswer | undefined }

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

/** Everything that an answer depends on but the request and who makes it: another stamp finds nothing of this one. */
const stampOf = (instance: Instance, version: string): string =>
  createHash('sha256')
    .update(JSON.stringify([instance, version]))
    .digest('base64')

/** Answers of read-only tools that are given again to the same request, as their API and the tools themselves allow. */
export const createAnswerKeeping = (options: AnswerKeepingOptions = {}) => {
  const store = createAnswerShelves(options)
  const flights = createFlights<Flown>()
  /** Of this process alone: what is in a request cannot be guessed from its key. */
  const secret = randomBytes(32)

  const keyOf = (stamp: string, owner: string | null, { method, url, headers, body }: RenderedRequest): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify([stamp, owner, method, url, headers, body ?? null]))
      .digest('base64')

  const again = (kept: KeptAnswer): AnswerAgain => ({ ...kept, ageMs: Math.max(0, store.now() - kept.answeredAtMs) })

  const keepingOf =
    (serverId: string, stamp: string, rules: { cacheSeconds: number; isShared: boolean }, owner: string | null) =>
    async (...[request, signal, send]: Parameters<AnswerKeeping>): Promise<FreshAnswer | AnswerAgain> => {
      if (signal?.aborted || asksAnew(request)) return send(signal)
      const key = keyOf(stamp, owner, request)
      const found = store.find(serverId, key)
      if (found !== undefined) return again(found)
      const flown = await flights.join({ group: serverId, key }, signal, async (stop, isCurrent) => {
        const fresh = await send(stop)
        const freshMs = fresh.isUsable ? freshMsOf(request, fresh.response, rules) : 0
        if (freshMs === 0) return { fresh, kept: undefined }
        const { result, response } = fresh
        const { status, body } = response
        const kept = { result, status, responseBytes: body.length, answeredAtMs: store.now() }
        if (isCurrent()) store.keep(serverId, key, kept, freshMs)
        return { fresh, kept }
      })
      // Cancelled: sending says so, in the words of every other call.
      if (flown === undefined) return send(signal)
      if (flown.isOwn) return flown.value.fresh
      // An answer that may not be given twice was for the call that asked for it (RFC 9111 §4).
      return flown.value.kept === undefined ? send(signal) : again(flown.value.kept)
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
