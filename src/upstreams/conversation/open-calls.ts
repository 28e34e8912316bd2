import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CallLink, SendLinked, StatelessPeer } from '../connection/call-link.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { untilAborted } from '../connection/open-connection.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import type { BorrowedConnection } from './dedicated-connections.ts'
import { toStatelessRequest } from './input-requests.ts'
import { maskTokensInOutcome } from './mask-tokens.ts'
import { INPUT_REQUIRED, sendWithLink } from './send-with-link.ts'

/** How long a client may take to respond. A person may need to read, think and type. */
const MAX_WAIT_MS = 5 * 60_000

type Question = { request: JsonObject; response: PromiseWithResolvers<JsonObject> }

/** A stateless client's request to a session-era upstream. */
type OpenCall = {
  id: string
  /** The upstream's questions, by Patchbay's own keys. */
  questions: Map<string, Question>
  hasAsked: PromiseWithResolvers<void>
  outcome: Promise<JsonObject>
  stop: AbortController
  /** The call link of the current round, if one is in progress. */
  link: CallLink | undefined
  timer: NodeJS.Timeout | undefined
}

const gone = (): UpstreamError =>
  new UpstreamError('aborted', 'The call that asked for this input has ended. Repeat it without requestState.')

/**
 * Bridges session-era upstreams, which request input during a call, and stateless clients, which receive such requests
 * in a result. The upstream call stays open until the client repeats its request with the input.
 */
export const createOpenCalls = () => {
  const openCalls = new Map<string, OpenCall>()

  const end = (call: OpenCall): void => {
    clearTimeout(call.timer)
    openCalls.delete(call.id)
    for (const { response } of call.questions.values())
      response.reject(new UpstreamError('aborted', 'The call has ended.'))
    call.questions.clear()
  }

  /** Waits for the result or for a question to the client. */
  const next = async (
    call: OpenCall,
    peer: StatelessPeer,
    link: CallLink,
    signal: AbortSignal,
  ): Promise<JsonObject> => {
    const onAbort = (): void => call.stop.abort()
    call.link = link
    clearTimeout(call.timer)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      const result = await Promise.race([call.outcome, call.hasAsked.promise.then(() => undefined)])
      if (result !== undefined) return result
      const inputRequests = Object.fromEntries([...call.questions].map(([key, { request }]) => [key, request]))
      call.timer = setTimeout(() => call.stop.abort(), MAX_WAIT_MS)
      return { resultType: INPUT_REQUIRED, inputRequests, requestState: peer.issueState({ held: call.id }) }
    } finally {
      call.link = undefined
      signal.removeEventListener('abort', onAbort)
    }
  }

  const ask = async (call: OpenCall, method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    openCalls.set(call.id, call)
    const key = `ask-${randomUUID()}`
    const response = Promise.withResolvers<JsonObject>()
    call.questions.set(key, { request: toStatelessRequest({ method, params }), response })
    call.hasAsked.resolve()
    const noLongerNeeded = () => new UpstreamError('aborted', 'The MCP server no longer needs this input.')
    try {
      return await untilAborted(response.promise, signal, noLongerNeeded)
    } finally {
      call.questions.delete(key)
    }
  }

  return {
    /** Sends a request over a borrowed connection, and releases the connection when the request ends. */
    start: (
      { entry, release }: BorrowedConnection,
      peer: StatelessPeer,
      link: CallLink,
      signal: AbortSignal,
      send: SendLinked,
    ): Promise<JsonObject> => {
      const stop = new AbortController()
      // Each round has its own call link. The first link decides whether progress is reported.
      const onProgress = link.onProgress && ((step: JsonObject): void => call.link?.onProgress?.(step))
      const outcome = sendWithLink(entry.connection, { ...link, onProgress }, stop.signal, send, entry.pauses)
      const call: OpenCall = {
        id: randomUUID(),
        questions: new Map(),
        hasAsked: Promise.withResolvers(),
        outcome: maskTokensInOutcome(entry, outcome),
        stop,
        link,
        timer: undefined,
      }
      entry.audience = {
        ask: (method, params, questionSignal) => ask(call, method, params, questionSignal),
        notify: (method, params) => {
          if (method === 'notifications/message') call.link?.onLog?.(params)
        },
      }
      const finish = (how: 'ended' | 'given up'): void => {
        end(call)
        entry.audience = undefined
        release(how)
      }
      call.outcome.then(
        () => finish('ended'),
        error => finish(error instanceof mcpClient().ProtocolError ? 'ended' : 'given up'),
      )
      return next(call, peer, link, signal)
    },
    /** Continues a call that is waiting for input. Throws UpstreamError if there is no such call. */
    resume: (id: string, peer: StatelessPeer, link: CallLink, signal: AbortSignal): Promise<JsonObject> => {
      const call = openCalls.get(id)
      if (call === undefined || call.link !== undefined) throw gone()
      const pending = [...call.questions]
      call.hasAsked = Promise.withResolvers()
      for (const [key, { response }] of pending) {
        const provided = peer.inputResponses?.[key]
        if (isJsonObject(provided)) {
          call.questions.delete(key)
          response.resolve(provided)
        }
      }
      if (call.questions.size > 0) call.hasAsked.resolve()
      return next(call, peer, link, signal)
    },
    close: (): void => {
      for (const call of [...openCalls.values()]) call.stop.abort()
    },
  }
}
