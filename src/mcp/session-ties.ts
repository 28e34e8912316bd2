import type { JsonObject } from '../kernel/index.ts'
import { isLevelWanted } from '../upstreams/index.ts'
import { type Answer, errorAnswer, invalidParams, refusal, resultAnswer } from './answer.ts'
import type { Call } from './call.ts'
import { logNotice } from './call-links.ts'
import { groupOf } from './groups.ts'
import type { RequestMessage } from './message.ts'
import { type LogLevel, listChangedMethod, resourceUpdated } from './protocol.ts'
import type { Router } from './router.ts'
import type { AskedSession, Session, SessionSubscription, SessionTies } from './session.ts'
import { askableOf, createSessionPeer } from './session-peer.ts'

const TOOLS_CHANGED = JSON.stringify({ jsonrpc: '2.0', method: listChangedMethod('tools') })

/** Resources that one session may be subscribed to at once. */
const MAX_SUBSCRIPTIONS = 500

const tiesOf = (session: Session): SessionTies => {
  session.ties ??= { subscriptions: new Map(), stopLogs: undefined, asked: undefined, closeOwn: undefined }
  return session.ties
}

/** The client of a session, for upstreams; undefined where it can be asked nothing. */
export const askedSession = ({ offers, server }: Router, session: Session): AskedSession | undefined => {
  const capabilities = session.ties?.asked === undefined ? askableOf(session.capabilities) : undefined
  if (capabilities !== undefined) {
    const ties = tiesOf(session)
    const asked = createSessionPeer(session, capabilities, () => {
      if ((server.unlisted?.list(asked.peer).length ?? 0) > 0) notify(session, TOOLS_CHANGED)
    })
    ties.asked = asked
    ties.closeOwn = () => offers?.closeOwn(asked.peer)
  }
  return session.ties?.asked
}

/** Ends subscriptions of a session that nobody listens to, which may be gone: they are taken up when somebody does. */
export const restSubscriptions = ({ ties }: Session): void => {
  for (const one of ties?.subscriptions.values() ?? []) {
    one.stop?.()
    one.stop = undefined
  }
}

/** Ends all that upstreams do for a session that is over. */
export const cutTies = (session: Session): void => {
  session.ties?.stopLogs?.()
  session.ties?.asked?.end()
  session.ties?.closeOwn?.()
  restSubscriptions(session)
  session.ties = undefined
}

/** Tells the client by the stream that it has open for that, if any. */
const notify = (session: Session, json: string): void => {
  if (session.notify === undefined) session.feeds?.notify(json)
  else session.notify(json)
}

/** Has upstreams tell what they log, from a level on, also while this session asks them nothing. */
export const listenToLogs = ({ offers }: Router, session: Session, level: LogLevel): void => {
  if (offers?.capabilities.logging !== true) return
  const ties = tiesOf(session)
  ties.stopLogs?.()
  ties.stopLogs = offers.listenToLogs(level, session, (message: JsonObject) => {
    if (isLevelWanted(message.level, level)) notify(session, logNotice(message))
  })
}

const begin = ({ offers }: Router, session: Session, uri: string, group: string | undefined) =>
  offers?.subscribe(uri, updated => notify(session, resourceUpdated(updated)), group)

const resume = async (router: Router, session: Session, uri: string, one: SessionSubscription): Promise<void> => {
  const taken = await begin(router, session, uri, one.group)
  // Refused, it rests on.
  if (taken === undefined || 'refused' in taken) return
  if (one.stop !== undefined || session.ties?.subscriptions.get(uri) !== one) taken.stop()
  else {
    one.stop = taken.stop
    notify(session, resourceUpdated(uri))
  }
}

/**
 * Somebody listens to the session again: what rests is subscribed to anew and told as updated, for what happened meanwhile
 * was not heard.
 */
export const resumeSubscriptions = async (router: Router, session: Session): Promise<void> => {
  for (const [uri, one] of session.ties?.subscriptions ?? []) {
    if (one.stop === undefined) await resume(router, session, uri, one).catch(() => {})
  }
}

/** Subscribes the session to a resource; undefined where no upstream has it. */
export const subscribe = (
  router: Router,
  session: Session,
  { id, params }: RequestMessage,
  uri: string,
  call: Call,
): Promise<Answer> | Answer | undefined => {
  const { subscriptions } = tiesOf(session)
  if (subscriptions.has(uri)) return resultAnswer(id, '{}')
  const tooMany = (): Answer =>
    errorAnswer(id, invalidParams(`A session may subscribe to ${MAX_SUBSCRIPTIONS} resources`))
  if (subscriptions.size >= MAX_SUBSCRIPTIONS) return tooMany()
  const group = groupOf(params)
  return begin(router, session, uri, group)?.then(taken => {
    if ('refused' in taken) return errorAnswer(id, refusal(200, taken.refused.code, taken.refused.message))
    // It was cancelled, or its session ended, or it asked for others as well, while the upstream was asked.
    const isFull = subscriptions.size >= MAX_SUBSCRIPTIONS && !subscriptions.has(uri)
    if (call.signal.aborted || subscriptions.has(uri) || isFull) taken.stop()
    else subscriptions.set(uri, { group, stop: taken.stop })
    if (isFull) return tooMany()
    return resultAnswer(id, '{}')
  })
}

export const unsubscribe = (session: Session, uri: string): void => {
  session.ties?.subscriptions.get(uri)?.stop?.()
  session.ties?.subscriptions.delete(uri)
}
