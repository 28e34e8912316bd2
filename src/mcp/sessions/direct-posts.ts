import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Exchange } from './exchange.ts'

/** The path of a server as its clients write it. */
const SERVER_PATH = /^\/s\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i

/**
 * Takes the POSTs of `/s/:uuid` where Node emits them: the routing, request, reply and listeners that Fastify makes
 * for each, and that are not looked at here, cost as much as answering a list. Whatever is written otherwise, and what
 * comes while the process stops, takes the route of the same path, to the same end.
 */
export const takePosts = (app: FastifyInstance, serve: (exchange: Exchange) => void): void => {
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
