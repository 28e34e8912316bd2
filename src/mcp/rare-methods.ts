import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { HttpExchange } from './http-exchange.ts'

/** The path of a server, or one below it. */
const SERVER_PATH = /^(?:https?:\/\/[^/]*)?\/s\/([^/?#]+)(?:[/?]|$)/i

/** Methods with routes of their own. */
const COMMON: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Handles requests to servers with any other method, such as those of WebDAV, since an upstream may support it. */
export const handleRareMethods = (app: FastifyInstance, serve: (http: HttpExchange) => void): void => {
  const toFastify = app.server.listeners('request')
  app.server.removeAllListeners('request')
  app.server.on('request', (incoming: IncomingMessage, raw: ServerResponse) => {
    const serverId = COMMON.has(incoming.method) ? undefined : SERVER_PATH.exec(incoming.url ?? '')?.[1]
    if (serverId === undefined) for (const listener of toFastify) listener.call(app.server, incoming, raw)
    else serve({ incoming, raw, headers: incoming.headers, serverId })
  })
}
