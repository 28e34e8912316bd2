import type { Caller } from '../execution/index.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { errorAnswer, idText, invalidParams, type Refusal } from './answer.ts'
import { messageEvent } from './event-stream.ts'
import { type Exchange, writeAnswer } from './exchange.ts'
import { groupOf } from './groups.ts'
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

/** Resources that one stream may be subscribed to. */
const MAX_SUBSCRIPTIONS = 500

const urisOf = ({ resourceSubscriptions: uris }: JsonObject): string[] =>
  Array.isArray(uris) ? [...new Set(uris.filter(uri => typeof uri === 'string'))] : []

/** Subscriptions to resources: those of the wanted ones that an upstream takes. */
type Resources = { uris: readonly string[]; listen: (onUpdated: (uri: string) => void) => void; stop: () => void }
const NO_RESOURCES: Resources = { uris: [], listen: () => {}, stop: () => {} }

/** Which of them are taken is said first of all, so they are asked for before the stream is opened; never rejects. */
const subscribeAll = async (
  { router }: Mounted,
  wanted: readonly string[],
  group: string | undefined,
): Promise<Resources> => {
  let tell = (_uri: string): void => {}
  const taken = await Promise.all(
    wanted.map(async uri => {
      const answer = await router.offers?.subscribe(uri, updated => tell(updated), group)
      return answer === undefined || 'refused' in answer ? [] : [{ uri, stop: answer.stop }]
    }),
  )
  return {
    uris: taken.flat().map(({ uri }) => uri),
    listen: onUpdated => {
      tell = onUpdated
    },
    stop: () => {
      for (const { stop } of taken.flat()) stop()
    },
  }
}

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
 * it is us who ends it. Lists of tools change on every server; those of resources and prompts, and resources themselves,
 * where there are upstreams.
 */
export const createListen = (checkRoom: CheckRoom, access: StreamAccess): Listen => {
  const open = (
    exchange: Exchange,
    mounted: Mounted,
    caller: Caller,
    { id }: RequestMessage,
    filter: JsonObject,
    resources: Resources,
  ): void => {
    const subscription = idText(id)
    const hasOffers = mounted.router.offers !== undefined
    const wanted = FLAGS.filter(flag => filter[flag] === true && (hasOffers || flag === 'toolsListChanged'))
    const kinds = new Set<ListKind>(wanted.map(flag => KINDS[flag]))
    const honoured = {
      ...Object.fromEntries(wanted.map(flag => [flag, true])),
      ...(resources.uris.length > 0 && { resourceSubscriptions: resources.uris }),
    }
    const notifications = `"notifications":${JSON.stringify(honoured)},`
    const acknowledged = stamped('notifications/subscriptions/acknowledged', subscription, notifications)
    const stream = mounted.openStream(exchange, acknowledged, () => {
      resources.stop()
      mounted.unsubscribe(subscriber)
    })
    const end = (): void => stream.end(farewell(mounted, subscription))
    const subscriber = {
      listChanged: (kind: ListKind) => {
        if (kinds.has(kind)) stream.send(stamped(listChangedMethod(kind), subscription))
      },
      ...access.watch(exchange, mounted, caller, stream, end),
      end,
    }
    resources.listen(uri => {
      stream.send(stamped('notifications/resources/updated', subscription, `"uri":${JSON.stringify(uri)},`))
    })
    // Nothing that could ever be sent: the stream has said all it has to say.
    if (kinds.size === 0 && resources.uris.length === 0) end()
    else mounted.subscribe(subscriber)
  }

  return (exchange, mounted, caller, request) => {
    const filter = request.params?.notifications
    const refuse = (reason: Refusal): void => writeAnswer(exchange, errorAnswer(request.id, reason))
    if (!isFilter(filter)) {
      refuse(invalidParams('Invalid params: notifications is missing or no subscription filter'))
      return
    }
    const uris = urisOf(filter)
    if (uris.length > MAX_SUBSCRIPTIONS) {
      refuse(invalidParams(`A stream may be subscribed to ${MAX_SUBSCRIPTIONS} resources`))
      return
    }
    const full = checkRoom(mounted)
    if (full !== undefined) refuse(full)
    else if (uris.length === 0) open(exchange, mounted, caller, request, filter, NO_RESOURCES)
    else {
      void subscribeAll(mounted, uris, groupOf(request.params)).then(resources => {
        // Others may have come while the upstreams were asked.
        const fullNow = checkRoom(mounted)
        if (fullNow === undefined) open(exchange, mounted, caller, request, filter, resources)
        else {
          resources.stop()
          refuse(fullNow)
        }
      })
    }
  }
}
