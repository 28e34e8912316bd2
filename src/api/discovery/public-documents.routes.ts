import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type ClientOrigins, createOwnOrigin, openToPages, sendDocumentPreflight } from '../../lib/http/origins.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { MCP_SCOPES } from '../../lib/kernel/mcp-scopes.ts'
import { serverUrl, urlEndingOf } from '../../lib/kernel/server-url.ts'
import type { Server } from '../../servers/server.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { RegistryEntry, toRegistryEntry } from './registry-entry.ts'

/** RFC 9728 §2. */
const ResourceMetadata = z.object({
  resource: z.url(),
  resource_name: z.string().optional(),
  authorization_servers: z.array(z.url()),
  scopes_supported: z.array(z.string()),
  bearer_methods_supported: z.array(z.string()),
})

/** Only a public server's metadata includes its name. `resource` is the server's URL as the client spells it. */
const toResourceMetadata = (
  { name, access }: Server,
  resource: string,
  baseUrl: string,
): z.infer<typeof ResourceMetadata> => ({
  resource,
  ...(access === 'public' && { resource_name: name }),
  authorization_servers: [baseUrl],
  scopes_supported: [...MCP_SCOPES],
  bearer_methods_supported: ['header'],
})

/** Cache lifetime: long enough for the requests of one sign-in, short enough for changes to show soon. */
const MAX_AGE_SECONDS = 60

const RESOURCE_PATH = '/.well-known/oauth-protected-resource'
/** HTTP+SSE is the same resource: a token is valid for a server over either transport. */
const RESOURCE_PATHS = ['', '/sse'].map(ending => `${RESOURCE_PATH}/s/:uuid${ending}`)
const REGISTRY_PATH = '/.well-known/mcp-servers/:uuid/server.json'
const hide = { hide: true } as const
const params = z.object({ uuid: z.string() })

type Parts = { servers: ServerService; baseUrl: string; origins: ClientOrigins }

/** Documents that clients read without a token: where to get one for a server, and how to reach public servers. */
export const publicDocumentRoutes: FastifyPluginAsyncZod<Parts> = async (app, { servers, baseUrl, origins }) => {
  openToPages(app, origins)
  const originOf = createOwnOrigin(baseUrl)

  const getServer = async (uuid: string): Promise<Server> => {
    const id = z.uuid().safeParse(uuid).data?.toLowerCase()
    const server = id === undefined ? undefined : await servers.findServerOfAnybody(id)
    if (server === undefined) throw new AppError('not_found', 'Server not found.')
    return server
  }
  const cached = (reply: FastifyReply): FastifyReply =>
    reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)

  for (const path of RESOURCE_PATHS) {
    app.get(path, { schema: { ...hide, params, response: { 200: ResourceMetadata } } }, async (request, reply) => {
      const server = await getServer(request.params.uuid)
      const resource = `${serverUrl(originOf(request.headers.host), server.id)}${urlEndingOf(request.originalUrl)}`
      return cached(reply).send(toResourceMetadata(server, resource, baseUrl))
    })
  }

  app.get(RESOURCE_PATH, { schema: hide }, async () => {
    const why = `No token is valid for all servers. Each server has its own document, ${RESOURCE_PATH}/s/<id>.`
    throw new AppError('not_found', why)
  })

  app.get(REGISTRY_PATH, { schema: { ...hide, params, response: { 200: RegistryEntry } } }, async (request, reply) => {
    const server = await getServer(request.params.uuid)
    if (server.access !== 'public') throw new AppError('not_found', 'Server not found.')
    return cached(reply).send(toRegistryEntry(server, baseUrl))
  })

  for (const path of [RESOURCE_PATH, ...RESOURCE_PATHS, REGISTRY_PATH]) {
    app.options(path, { schema: hide }, (_request, reply) => sendDocumentPreflight(reply))
  }
}
