import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { bearerOf } from '../../lib/http/access.ts'
import { type ClientOrigins, openToPages, sendDocumentPreflight } from '../../lib/http/origins.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { assertNotSuspended, type Suspensions } from '../../lib/kernel/suspensions.ts'
import type { VerifyMcpToken } from '../../servers/access/access.ts'
import type { Server } from '../../servers/server.ts'
import type { ServerService } from '../../servers/servers.service.ts'

/** Maximum number of servers in the document, because clients read it as a whole. */
const MAX_LISTED_SERVERS = 1_000

const McpServers = z.object({
  servers: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      base_url: z.url(),
      access_level: z.enum(['public', 'organization', 'private']),
    }),
  ),
})

const toEntry = (baseUrl: string) => (server: Server) => ({
  name: server.name,
  description: server.description ?? '',
  base_url: serverUrl(baseUrl, server.id),
  access_level: server.access,
})

type Parts = {
  servers: ServerService
  verifyMcpToken: VerifyMcpToken
  suspensions: Suspensions
  baseUrl: string
  origins: ClientOrigins
}

const PATH = '/.well-known/mcp-servers'

/**
 * `/.well-known/mcp-servers` lists the servers that the caller's token may use; without a token, the public ones. A page
 * of another origin without a token gets only those that it may call, because it may run in an internal network.
 */
export const discoveryRoutes: FastifyPluginAsyncZod<Parts> = async (
  app,
  { servers, verifyMcpToken, suspensions, baseUrl, origins },
) => {
  openToPages(app, origins)
  app.options(PATH, { schema: { hide: true } }, (_request, reply) => sendDocumentPreflight(reply, 'authorization, *'))
  app.get(PATH, { schema: { hide: true, response: { 200: McpServers } } }, async (request, reply) => {
    reply.header('vary', 'Origin')
    const token = bearerOf(request)
    const principal = token === undefined ? undefined : await verifyMcpToken(token)
    if (principal !== undefined) assertNotSuspended('account', suspensions.ofUser(principal.userId))
    const { origin } = request.headers
    const isForeign = origin !== undefined && origins.allowedOriginFor(origin, false) === undefined
    const listed = principal?.isForMcp
      ? await servers.listUsableServers(principal, MAX_LISTED_SERVERS)
      : await servers.listPublicServers(isForeign, MAX_LISTED_SERVERS)
    return { servers: listed.map(toEntry(baseUrl)) }
  })
}
