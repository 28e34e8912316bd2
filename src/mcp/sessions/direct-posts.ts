import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { HttpExchange } from '../http-exchange.ts'

/** The canonical path of a server. */
const SERVER_PATH = /^\/s\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i

/**
 * Handles the POSTs of `/s/:uuid` directly on Node's server. Fastify's routing, request, reply and hooks are not used
 * here and would cost as much as listing tools. Other spellings of the path, and requests during shutdown, take the
 * Fastify route with the same handler.
 */
export const handlePosts = (app: FastifyInstance, serve: (http: HttpExchange) => void): void => {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  const toFastify = app.server.listeners('request')
  app.server.removeAllListeners('request')
  app.server.on('request', (incoming: IncomingMessage, raw: ServerResponse) => {
    const serverId = incoming.method === 'POST' && !isClosing ? SERVER_PATH.exec(incoming.url ?? '')?.[1] : undefined
    if (serverId === undefined) for (const listener of toFastify) listener.call(app.server, incoming, raw)
    else serve({ incoming, raw, headers: incoming.headers, serverId })
  })
}
