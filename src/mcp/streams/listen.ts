import { z } from 'zod'
import { writeResponse } from '../http-exchange.ts'
import type { RequestMessage } from '../message.ts'
import { type ListKind, listChangedMethod, META } from '../protocol.ts'
import { groupOf } from '../registry/groups.ts'
import type { MountedServer } from '../registry/mounted-server.ts'
import { errorResponse, idText, invalidParams, type Refusal, type RpcResponse } from '../rpc-response.ts'
import type { ServerRequest } from '../server-request.ts'
import { messageEvent } from './event-stream.ts'
import type { WatchAccess } from './stream-access.ts'

const KINDS = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const satisfies Record<string, ListKind>
const FLAGS = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const

const Filter = z.object({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).default([]),
})
type Filter = z.infer<typeof Filter>

/** Maximum number of resource subscriptions per stream. */
const MAX_SUBSCRIPTIONS = 500

/** The resource subscriptions that upstreams accepted. */
type Resources = { uris: readonly string[]; listen: (onUpdated: (uri: string) => void) => void; stop: () => void }
const NO_RESOURCES: Resources = { uris: [], listen: () => {}, stop: () => {} }

/**
 * Subscribes before the stream is opened, because the stream's first message lists the accepted
 * subscriptions. Never rejects.
 */
const subscribeAll = async (
  { router }: MountedServer,
  wanted: readonly string[],
  group: string | undefined,
): Promise<Resources> => {
  let tell = (_uri: string): void => {}
  const taken = await Promise.all(
    wanted.map(async uri => {
      const taken = await router.offers?.subscribe(uri, updated => tell(updated), group)
      return taken === undefined || 'refused' in taken ? [] : [{ uri, stop: taken.stop }]
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

const endMessage = ({ router }: MountedServer, subscription: string): string => {
  const result = `${router.statelessHead.slice(0, -1)},"${META.subscriptionId}":${subscription}}}`
  return messageEvent(`{"jsonrpc":"2.0","id":${subscription},"result":${result}}`)
}

/** Returns a refusal if there is no room for another stream. */
export type CheckRoom = (mounted: MountedServer) => Refusal | undefined

/**
 * Serves `subscriptions/listen`, the only long-lived stream of the stateless era (2026-07-28,
 * basic/utilities/subscriptions). Acknowledges the supported part of the filter, tags every message with the request's
 * id, and sends a result if the server ends the stream. Every server announces changes to its tools. Servers with
 * upstreams also announce changes to prompts and resources, and updates of individual resources.
 */
export const createListen = (checkRoom: CheckRoom, watchAccess: WatchAccess) => {
  const open = (request: ServerRequest, { id }: RequestMessage, filter: Filter, resources: Resources): void => {
    const { http, mounted } = request
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
    const stream = mounted.openStream(http, acknowledged, () => {
      resources.stop()
      mounted.unsubscribe(subscriber)
    })
    const end = (): void => stream.end(endMessage(mounted, subscription))
    const subscriber = {
      listChanged: (kind: ListKind) => {
        if (kinds.has(kind)) stream.send(stamped(listChangedMethod(kind), subscription))
      },
      ...watchAccess(request, stream, end),
      end,
    }
    resources.listen(uri => {
      stream.send(stamped('notifications/resources/updated', subscription, `"uri":${JSON.stringify(uri)},`))
    })
    // Ends the stream if no subscription was accepted, because nothing could ever be sent.
    if (kinds.size === 0 && resources.uris.length === 0) end()
    else mounted.subscribe(subscriber)
  }

  return (request: ServerRequest, message: RequestMessage): RpcResponse | 'streaming' => {
    const { http, mounted } = request
    const { success, data: filter } = Filter.safeParse(message.params?.notifications)
    const refuse = (reason: Refusal): RpcResponse => errorResponse(message.id, reason)
    if (!success) return refuse(NO_FILTER)
    const uris = [...new Set(filter.resourceSubscriptions)]
    if (uris.length > MAX_SUBSCRIPTIONS) return refuse(TOO_MANY_RESOURCES)
    const full = checkRoom(mounted)
    if (full !== undefined) return refuse(full)
    if (uris.length === 0) open(request, message, filter, NO_RESOURCES)
    else {
      void subscribeAll(mounted, uris, groupOf(message.params)).then(resources => {
        // Other streams may have been opened while the upstreams subscribed.
        const fullNow = checkRoom(mounted)
        if (fullNow === undefined) open(request, message, filter, resources)
        else {
          resources.stop()
          writeResponse(http, refuse(fullNow))
        }
      })
    }
    return 'streaming'
  }
}
export type Listen = ReturnType<typeof createListen>

const NO_FILTER = invalidParams('Invalid params: notifications is missing or not a subscription filter')
const TOO_MANY_RESOURCES = invalidParams(`A stream can subscribe to at most ${MAX_SUBSCRIPTIONS} resources`)
