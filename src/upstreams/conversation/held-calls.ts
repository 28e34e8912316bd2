import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CallLink, SendLinked, StatelessPeer } from '../connection/call-link.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import { withTokensHidden } from './account-tokens.ts'
import { askWithLink, INPUT_REQUIRED } from './ask-with-link.ts'
import { toNewerRequest } from './asked-requests.ts'
import type { LentConnection } from './own-connections.ts'

/** How long a client may take to come back: a person may have to read, think and type. */
const MAX_HELD_MS = 5 * 60_000

type Asked = { request: JsonObject; answer: PromiseWithResolvers<JsonObject> }

/** A request under way to an upstream of the older era, for a client of the newer. */
type Held = {
  id: string
  /** Under keys of ours, what the upstream waits for. */
  asked: Map<string, Asked>
  /** Resolves when it asks for something. */
  hasAsked: PromiseWithResolvers<void>
  outcome: Promise<JsonObject>
  stop: AbortController
  /** Of the round that is under way, if one is. */
  link: CallLink | undefined
  timer: NodeJS.Timeout | undefined
}

const gone = (): UpstreamError =>
  new UpstreamError(
    'aborted',
    'The call that asked for this does not wait any more: make it again without requestState.',
  )

/**
 * Lets upstreams of the older era, which ask while a call runs, ask stateless clients, who are asked in an answer: the
 * call to the upstream is held open until the client repeats its request with what it was asked for.
 */
export const createHeldCalls = () => {
  const held = new Map<string, Held>()

  const end = (one: Held): void => {
    clearTimeout(one.timer)
    held.delete(one.id)
    for (const { answer } of one.asked.values()) answer.reject(new UpstreamError('aborted', 'The call is over.'))
    one.asked.clear()
  }

  /** What becomes of it next: its result, or what the client is to bring. */
  const next = async (one: Held, peer: StatelessPeer, link: CallLink, signal: AbortSignal): Promise<JsonObject> => {
    const onAbort = (): void => one.stop.abort()
    one.link = link
    clearTimeout(one.timer)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      const result = await Promise.race([one.outcome, one.hasAsked.promise.then(() => undefined)])
      if (result !== undefined) return result
      const inputRequests = Object.fromEntries([...one.asked].map(([key, { request }]) => [key, request]))
      one.timer = setTimeout(() => one.stop.abort(), MAX_HELD_MS)
      return { resultType: INPUT_REQUIRED, inputRequests, requestState: peer.seal({ held: one.id }) }
    } finally {
      one.link = undefined
      signal.removeEventListener('abort', onAbort)
    }
  }

  const ask = async (one: Held, method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    held.set(one.id, one)
    const key = `ask-${randomUUID()}`
    const answer = Promise.withResolvers<JsonObject>()
    const onAbort = (): void => answer.reject(new UpstreamError('aborted', 'It is not needed any more.'))
    one.asked.set(key, { request: toNewerRequest({ method, params }), answer })
    one.hasAsked.resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await answer.promise
    } finally {
      one.asked.delete(key)
      signal.removeEventListener('abort', onAbort)
    }
  }

  return {
    /** Sends a request over a connection that is lent for it; `release` gives that back when it is answered. */
    begin: (
      { own, release }: LentConnection,
      peer: StatelessPeer,
      link: CallLink,
      signal: AbortSignal,
      send: SendLinked,
    ): Promise<JsonObject> => {
      const stop = new AbortController()
      // Each round has a link of its own; what was asked for in the first holds for all.
      const onProgress = link.onProgress && ((step: JsonObject): void => one.link?.onProgress?.(step))
      const outcome = askWithLink(own.connection, { ...link, onProgress }, stop.signal, send, own.pauses)
      const one: Held = {
        id: randomUUID(),
        asked: new Map(),
        hasAsked: Promise.withResolvers(),
        outcome: withTokensHidden(own, outcome),
        stop,
        link,
        timer: undefined,
      }
      own.audience = {
        ask: (method, params, asking) => ask(one, method, params, asking),
        tell: (method, params) => {
          if (method === 'notifications/message') one.link?.onLog?.(params)
        },
      }
      const finish = (how: 'ended' | 'given up'): void => {
        end(one)
        own.audience = undefined
        release(how)
      }
      one.outcome.then(
        () => finish('ended'),
        error => finish(error instanceof mcpClient().ProtocolError ? 'ended' : 'given up'),
      )
      return next(one, peer, link, signal)
    },
    /** Goes on with a request that waits for what the client brings. Throws UpstreamError where it does not wait. */
    resume: (id: string, peer: StatelessPeer, link: CallLink, signal: AbortSignal): Promise<JsonObject> => {
      const one = held.get(id)
      if (one === undefined || one.link !== undefined) throw gone()
      const waiting = [...one.asked]
      one.hasAsked = Promise.withResolvers()
      for (const [key, { answer }] of waiting) {
        const brought = peer.inputResponses?.[key]
        if (isJsonObject(brought)) {
          one.asked.delete(key)
          answer.resolve(brought)
        }
      }
      if (one.asked.size > 0) one.hasAsked.resolve()
      return next(one, peer, link, signal)
    },
    close: (): void => {
      for (const one of [...held.values()]) one.stop.abort()
    },
  }
}
