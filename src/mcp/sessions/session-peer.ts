import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../kernel/index.ts'
import { isLevelWanted, type SessionPeer } from '../upstreams/index.ts'
import type { ResponseMessage } from './message.ts'
import type { AskedSession, Session } from './session.ts'

/** A person may have to read, think and type. */
const MAX_ANSWER_MS = 10 * 60_000
/** Requests that one client has not answered yet. */
const MAX_UNANSWERED = 50

/** What a client declares that it can be asked, as names that fit into the id of its session. */
const ASKABLE = {
  elicitation: ['form', 'url'],
  roots: ['listChanged'],
  sampling: ['context', 'tools'],
} as const
type Askable = keyof typeof ASKABLE
const ASKABLES = ['elicitation', 'roots', 'sampling'] as const satisfies readonly Askable[]

/** `sampling.tools` and the like: details of a capability. */
export const ASKABLE_NAMES: readonly string[] = ASKABLES.flatMap(name => [
  name,
  ...ASKABLE[name].map(detail => `${name}.${detail}`),
])

const hasDetail = (names: readonly string[], name: string): boolean => names.includes(name)

/** The capabilities that the names stand for; undefined for a client that can be asked nothing. */
export const askableOf = (names: readonly string[]): JsonObject | undefined => {
  const found = ASKABLES.filter(name => names.includes(name))
  if (found.length === 0) return undefined
  return Object.fromEntries(
    found.map(name => {
      const details = ASKABLE[name].filter(detail => hasDetail(names, `${name}.${detail}`))
      return [name, Object.fromEntries(details.map(detail => [detail, detail === 'listChanged' ? true : {}]))]
    }),
  )
}

/** An error that a client answered with, or why it was not asked; its code goes on to the upstream. */
class AskError extends Error {
  override readonly name = 'AskError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** JSON-RPC 2.0 §5.1. */
const INTERNAL_ERROR = -32_603

type Waiting = { settle: (answer: ResponseMessage) => void; fail: (why: string) => void }

/** The client of a session, as upstreams see it: it is asked over the stream of a call of its own, or the one it opened. */
export const createSessionPeer = (session: Session, capabilities: JsonObject, onLearned: () => void): AskedSession => {
  const waiting = new Map<string, Waiting>()

  /** Whether there was a stream for it. */
  const send = (json: string): boolean => {
    const call = session.calls?.findLast(({ say, link }) => say !== undefined && link !== undefined)
    if (call?.say !== undefined) call.say(json)
    else if (session.notify !== undefined) session.notify(json)
    else if (session.feeds?.hasNotices() === true) session.feeds.notify(json)
    else return false
    return true
  }

  const ask = async (method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    if (waiting.size >= MAX_UNANSWERED) throw new AskError(INTERNAL_ERROR, 'The client has too much to answer already.')
    const id = `ask-${randomUUID()}`
    const answer = Promise.withResolvers<JsonObject>()
    const fail = (why: string): void => {
      const params = { requestId: id, reason: why }
      send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
      answer.reject(new AskError(INTERNAL_ERROR, why))
    }
    const settle = ({ result, error }: ResponseMessage): void => {
      if (result !== undefined) answer.resolve(result)
      else answer.reject(new AskError(error?.code ?? INTERNAL_ERROR, error?.message ?? 'The client answered nothing.'))
    }
    waiting.set(id, { settle, fail })
    const timer = setTimeout(() => fail('The client did not answer in time.'), MAX_ANSWER_MS)
    const onAbort = (): void => fail('It is not needed any more.')
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      if (!send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))) {
        throw new AskError(INTERNAL_ERROR, 'The client has no stream open that it could be asked over.')
      }
      return await answer.promise
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
    learned: onLearned,
    tell: (method, params) => {
      const { logLevel } = session
      const isLog = method === 'notifications/message'
      if (isLog && logLevel !== undefined && !isLevelWanted(params.level, logLevel)) return
      send(JSON.stringify({ jsonrpc: '2.0', method, params }))
    },
  }
  return {
    peer,
    receive: answer => {
      if (typeof answer.id === 'string') waiting.get(answer.id)?.settle(answer)
    },
    end: () => {
      for (const { fail } of waiting.values()) fail('The session is over.')
    },
  }
}
