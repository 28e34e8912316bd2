import type { Caller } from '../execution/index.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { errorAnswer, idText, invalidParams, type Refusal } from './answer.ts'
import { messageEvent } from './event-stream.ts'
import { type Exchange, writeAnswer } from './exchange.ts'
import type { RequestMessage } from './message.ts'
import type { Mounted } from './mounted.ts'
import { type ListKind, listChangedMethod, META } from './protocol.ts'
import type { StreamAccess } from './stream-access.ts'

export type Listen = (exchange: Exchange, mounted: Mounted, caller: Caller, request: RequestMessage) => void

const KINDS = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const satisfies Record<string, ListKind>
const FLAGS = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const

const isFilter = (value: JsonValue | undefined): value is JsonObject =>
  isJsonObject(value) &&
  FLAGS.every(flag => value[flag] === undefined || typeof value[flag] === 'boolean') &&
  (value.resourceSubscriptions === undefined ||
    (Array.isArray(value.resourceSubscriptions) && value.resourceSubscriptions.every(uri => typeof uri === 'string')))

const stamped = (method: string, subscription: string, rest = ''): string =>
  messageEvent(
    `{"jsonrpc":"2.0","method":"${method}","params":{${rest}"_meta":{"${META.subscriptionId}":${subscription}}}}`,
  )

const farewell = ({ router }: Mounted, subscription: string): string => {
  const result = `${router.statelessHead.slice(0, -1)},"${META.subscriptionId}":${subscription}}}`
  return messageEvent(`{"jsonrpc":"2.0","id":${subscription},"result":${result}}`)
}

/** Why there is no room for another stream; undefined when there is. */
export type CheckRoom = (mounted: Mounted) => Refusal | undefined

/**
 * Serves `subscriptions/listen`, the one long stream of the stateless era (2026-07-28, basic/utilities/subscriptions):
 * acknowledges what of the filter is served, tags every message with the request's id, and ends with a result when
 * it is us who ends it. Only changes of lists happen here so far: of tools, and where there are upstreams of the others.
 */
export const createListen =
  (checkRoom: CheckRoom, access: StreamAccess): Listen =>
  (exchange, mounted, caller, { id, params }) => {
    const filter = params?.notifications
    if (!isFilter(filter)) {
      const why = invalidParams('Invalid params: notifications is missing or no subscription filter')
      writeAnswer(exchange, errorAnswer(id, why))
      return
    }
    const full = checkRoom(mounted)
    if (full !== undefined) {
      writeAnswer(exchange, errorAnswer(id, full))
      return
    }
    const subscription = idText(id)
    const hasOffers = mounted.router.offers !== undefined
    const wanted = FLAGS.filter(flag => filter[flag] === true && (hasOffers || flag === 'toolsListChanged'))
    const kinds = new Set<ListKind>(wanted.map(flag => KINDS[flag]))
    const honoured = `"notifications":${JSON.stringify(Object.fromEntries(wanted.map(flag => [flag, true])))},`
    const acknowledged = stamped('notifications/subscriptions/acknowledged', subscription, honoured)
    const stream = mounted.openStream(exchange, acknowledged, () => mounted.unsubscribe(subscriber))
    const end = (): void => stream.end(farewell(mounted, subscription))
    const subscriber = {
      listChanged: (kind: ListKind) => {
        if (kinds.has(kind)) stream.send(stamped(listChangedMethod(kind), subscription))
      },
      ...access.watch(exchange, mounted, caller, stream, end),
      end,
    }
    // Nothing that could ever be sent: the stream has said all it has to say.
    if (kinds.size === 0) end()
    else mounted.subscribe(subscriber)
  }
