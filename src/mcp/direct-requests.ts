import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { newRequestId } from '../lib/http/request-ids.ts'
import { URL_ENDING } from '../lib/kernel/server-url.ts'
import type { HttpExchange } from './http-exchange.ts'

/** Matches the path of a server, with what clients may append to it. */
const SERVER_PATH = new RegExp(`^/s/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})${URL_ENDING}$`, 'i')
/** Matches the path of a server in any spelling, or any path below it. */
const PATH_BELOW = /^(?:https?:\/\/[^/]*)?\/s\/([^/?#]+)(?:[/?]|$)/i

/** Methods for which Fastify has routes. */
const COMMON: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

type Serve = (http: HttpExchange) => void
type DirectHandlers = {
  /**
   * Handles POSTs to `/s/:uuid`. Bypasses Fastify, whose routing and hooks cost as much as listing tools. Other
   * spellings of the path, and requests during shutdown, take the Fastify route, which has the same handler.
   */
  post: Serve
  /** Handles methods that Fastify does not route, such as those of WebDAV, because an upstream may support them. */
  rareMethod: Serve
}

/** Handles some requests to servers directly on Node's HTTP server, before they reach Fastify. */
export const handleDirectly = (app: FastifyInstance, { post, rareMethod }: DirectHandlers): void => {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  const toFastify = app.server.listeners('request')
  app.server.removeAllListeners('request')
  app.server.on('request', (incoming: IncomingMessage, raw: ServerResponse) => {
    const { method, url = '', headers } = incoming
    const isRare = !COMMON.has(method)
    const path = isRare ? PATH_BELOW : method === 'POST' && !isClosing ? SERVER_PATH : undefined
    const serverId = path?.exec(url)?.[1]
    if (serverId === undefined) for (const listener of toFastify) listener.call(app.server, incoming, raw)
    else (isRare ? rareMethod : post)({ incoming, raw, headers, serverId, requestId: newRequestId() })
  })
}
