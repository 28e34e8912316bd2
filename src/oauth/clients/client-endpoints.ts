import helmet from '@fastify/helmet'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '../kernel/index.ts'
import { type Counters, networkOf } from '../platform/counters/index.ts'
import { createErrorReader, type OriginPolicy, readJsonBodies } from '../platform/http/index.ts'
import type { FloodGate } from './flood-gate.ts'
import type { HandOver } from './hand-over.ts'
import { buildMetadata } from './metadata.ts'
import type { Registrations } from './registration.ts'

const MAX_BODY_BYTES = 64 * 1_024
const MAX_JSON_DEPTH = 8
const REGISTRATIONS_WINDOW_MS = 60 * 60 * 1_000
/** Clients that one address may register in that time. */
const MAX_REGISTRATIONS = 20

const ANYONE = { access: 'anyone' } as const

const METADATA_PATHS = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

export type ClientEndpointsParts = {
  baseUrl: string
  handOver: HandOver
  registrations: Registrations
  counters: Counters
  gate: FloodGate
  isHttps: boolean
  origins: Pick<OriginPolicy, 'isHostAllowed'>
}

/** Pages of any origin may call: nothing here goes by cookies (Fetch §3.2.5: without credentials). */
const openToAllOrigins = (reply: FastifyReply, methods: string): FastifyReply =>
  reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', methods)
    .header('access-control-allow-headers', 'authorization, content-type, mcp-protocol-version')
    .header('access-control-max-age', '3600')

const OAUTH_ERRORS = new Map([
  ['rate_limited', 'temporarily_unavailable'],
  ['unavailable', 'temporarily_unavailable'],
  ['internal', 'server_error'],
])

/** Errors as clients of OAuth read them (RFC 6749 §5.2). */
const answerErrors = (app: FastifyInstance): void => {
  const read = createErrorReader(MAX_BODY_BYTES)
  app.setErrorHandler((error, request, reply) => {
    const { status, code, message, retryAfterSeconds } = read(error, request)
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
    return reply
      .code(status)
      .header('access-control-allow-origin', '*')
      .send({ error: OAUTH_ERRORS.get(code) ?? 'invalid_request', error_description: message })
  })
}

/** The library reads forms itself, and no more than 56 kB; what says that it is larger is refused before. */
const leaveBodiesUnread = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onRequest', async ({ headers }) => {
    if (Number(headers['content-length'] ?? 0) <= MAX_BODY_BYTES) return
    throw new AppError('payload_too_large', `The request body is larger than ${MAX_BODY_BYTES} bytes.`)
  })
}

/** Token, revocation and keys: the library's, in a scope of their own. */
const libraryEndpoints =
  ({ handOver }: ClientEndpointsParts) =>
  async (app: FastifyInstance): Promise<void> => {
    leaveBodiesUnread(app)
    for (const [url, method] of [
      ['/oauth/token', 'POST'],
      ['/oauth/revoke', 'POST'],
      ['/oauth/jwks', 'GET'],
    ] as const) {
      app.options(url, { config: ANYONE }, (_request, reply) => openToAllOrigins(reply, method).code(204).send())
      app.route({
        url,
        method,
        exposeHeadRoute: false,
        config: ANYONE,
        handler: async (request, reply) => {
          await handOver(request, openToAllOrigins(reply, method))
          reply.hijack()
        },
      })
    }
  }

const registrationEndpoint =
  ({ registrations, counters }: ClientEndpointsParts) =>
  async (app: FastifyInstance): Promise<void> => {
    readJsonBodies(app, MAX_JSON_DEPTH)
    app.addHook('onRequest', async (request, reply) => {
      openToAllOrigins(reply, 'POST')
      if (request.method !== 'POST') return
      // Before the body is read: what is refused counts as well.
      const key = `oauth-register:${networkOf(request.ip)}`
      const { count, resetsInMs } = await counters.increment(key, REGISTRATIONS_WINDOW_MS)
      if (count <= MAX_REGISTRATIONS) return
      throw new AppError('rate_limited', 'This address has registered too many clients: try again later.', {
        retryAfterSeconds: Math.ceil(resetsInMs / 1_000),
      })
    })
    app.options('/oauth/register', { config: ANYONE }, (_request, reply) => reply.code(204).send())
    app.post('/oauth/register', { config: ANYONE, bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
      const registered = await registrations.register(request.body)
      if (registered.ok) return reply.code(201).send(registered.value)
      const { error, description } = registered.error
      return reply.code(400).send({ error, error_description: description })
    })
  }

const metadataEndpoints =
  ({ baseUrl }: ClientEndpointsParts) =>
  async (app: FastifyInstance): Promise<void> => {
    const metadata = buildMetadata(baseUrl)
    for (const url of METADATA_PATHS) {
      app.options(url, { config: ANYONE }, (_request, reply) => openToAllOrigins(reply, 'GET').code(204).send())
      app.get(url, { config: ANYONE }, (_request, reply) => openToAllOrigins(reply, 'GET').send(metadata))
    }
  }

/** What OAuth clients call themselves, without a browser. */
export const clientEndpoints =
  (parts: ClientEndpointsParts) =>
  async (app: FastifyInstance): Promise<void> => {
    await app.register(helmet, {
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      strictTransportSecurity: parts.isHttps,
    })
    answerErrors(app)
    parts.gate.guard(app)
    app.addHook('onRequest', async (request, reply) => {
      reply.header('cache-control', 'no-store')
      if (parts.origins.isHostAllowed(request.headers.host)) return
      throw new AppError('forbidden', 'The Host header is not one that this installation answers to.')
    })
    await app.register(metadataEndpoints(parts))
    await app.register(registrationEndpoint(parts))
    await app.register(libraryEndpoints(parts))
  }
