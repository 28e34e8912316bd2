import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Exchange } from './exchange.ts'

/** A server's address, or one below it. */
const SERVER_PATH = /^(?:https?:\/\/[^/]*)?\/s\/([^/?#]+)(?:[/?]|$)/i

/** Methods that have routes of their own. */
const COMMON: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Takes requests to servers by any other method, such as those of WebDAV: some upstream may know it. */
export const takeRareMethods = (app: FastifyInstance, serve: (exchange: Exchange) => void): void => {
  const toFastify = app.server.listeners('request')
  app.server.removeAllListeners('request')
  app.server.on('request', (incoming: IncomingMessage, raw: ServerResponse) => {
    const serverId = COMMON.has(incoming.method) ? undefined : SERVER_PATH.exec(incoming.url ?? '')?.[1]
    if (serverId === undefined) for (const listener of toFastify) listener.call(app.server, incoming, raw)
    else serve({ incoming, raw, headers: incoming.headers, serverId })
  })
}
