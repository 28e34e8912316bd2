import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { isLevelWanted, type SessionPeer } from '../../upstreams/connection/call-link.ts'
import { ClientRefusal } from '../../upstreams/connection/client-refusal.ts'
import type { ResponseMessage } from '../message.ts'
import { ERROR, notification } from '../protocol.ts'
import type { AskableClient, Session } from './session.ts'

/** Maximum time to wait for a client's response. It is long because a person may have to read, think and type. */
const MAX_RESPONSE_MS = 10 * 60_000
/** Maximum number of open requests to one client. */
const MAX_UNANSWERED = 50

/**
 * Client capabilities that allow requests to the client, with their details. The names are short,
 * because they are stored in session ids.
 */
const ASKABLE = {
  elicitation: ['form', 'url'],
  roots: ['listChanged'],
  sampling: ['context', 'tools'],
} as const
type Askable = keyof typeof ASKABLE
export const ASKABLES = ['elicitation', 'roots', 'sampling'] as const satisfies readonly Askable[]

/** Names of the capabilities in `ASKABLE` and of their details, such as `sampling.tools`. */
export const ASKABLE_NAMES: readonly string[] = ASKABLES.flatMap(name => [
  name,
  ...ASKABLE[name].map(detail => `${name}.${detail}`),
])

/** Returns the capabilities with these names, or undefined if none of them allows requests to the client. */
export const askableOf = (names: readonly string[]): JsonObject | undefined => {
  const found = ASKABLES.filter(name => names.includes(name))
  if (found.length === 0) return undefined
  return Object.fromEntries(
    found.map(name => {
      const details = ASKABLE[name].filter(detail => names.includes(`${name}.${detail}`))
      return [name, Object.fromEntries(details.map(detail => [detail, detail === 'listChanged' ? true : {}]))]
    }),
  )
}

type Waiting = { settle: (response: ResponseMessage) => void; fail: (why: string) => void }

/**
 * Creates the object through which upstreams send requests to a session's client. Requests use the stream of a running
 * call or the notification stream that the client opened.
 */
export const createSessionPeer = (session: Session, capabilities: JsonObject, onLearned: () => void): AskableClient => {
  const waiting = new Map<string, Waiting>()

  /** Sends a message to the client. Returns false if no stream is open. */
  const send = (json: string): boolean => {
    const call = session.calls?.findLast(({ channel, link }) => channel.isOpen && link !== undefined)
    if (call !== undefined) call.channel.send(json)
    else if (session.notify !== undefined) session.notify(json)
    else if (session.streams?.hasNotices() === true) session.streams.notify(json)
    else return false
    return true
  }

  const ask = async (method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    if (waiting.size >= MAX_UNANSWERED)
      throw new ClientRefusal(ERROR.internal, 'The client has too many unanswered requests.')
    const id = `ask-${randomUUID()}`
    const response = Promise.withResolvers<JsonObject>()
    const fail = (why: string): void => {
      send(notification('notifications/cancelled', { requestId: id, reason: why }))
      response.reject(new ClientRefusal(ERROR.internal, why))
    }
    const settle = ({ result, error }: ResponseMessage): void => {
      if (result !== undefined) response.resolve(result)
      else {
        const { code, message } = error ?? { code: ERROR.internal, message: 'The client returned no result.' }
        response.reject(new ClientRefusal(code, message))
      }
    }
    waiting.set(id, { settle, fail })
    const timer = setTimeout(() => fail('The client did not respond in time.'), MAX_RESPONSE_MS)
    const onAbort = (): void => fail('The response is no longer needed.')
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      if (!send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))) {
        throw new ClientRefusal(ERROR.internal, 'The client has no open stream for this request.')
      }
      return await response.promise
    } finally {
      waiting.delete(id)
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  const peer: SessionPeer = {
    kind: 'session',
    key: randomUUID(),
    capabilities,
    userId: session.subject,
    ask,
    onToolsKnown: onLearned,
    notify: (method, params) => {
      const { logLevel } = session
      const isLog = method === 'notifications/message'
      if (isLog && logLevel !== undefined && !isLevelWanted(params.level, logLevel)) return
      send(notification(method, params))
    },
  }
  return {
    peer,
    receive: response => {
      if (typeof response.id === 'string') waiting.get(response.id)?.settle(response)
    },
    end: () => {
      for (const { fail } of waiting.values()) fail('The session has ended.')
    },
  }
}
