import helmet from '@fastify/helmet'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { readJsonBodies } from '../../lib/http/json-body.ts'
import { networkOf } from '../../lib/http/network.ts'
import { type ClientOrigins, openToPages } from '../../lib/http/origins.ts'
import { createErrorReader } from '../../lib/http/problem.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { MCP_SCOPES } from '../../lib/kernel/mcp-scopes.ts'
import type { ForwardToLibrary } from '../forward-to-library.ts'
import type { RequestLimiter } from '../request-limiter.ts'
import { AUTH_METHODS } from './oauth-client.ts'
import type { Register } from './register.ts'

/**
 * Builds the authorization server metadata (RFC 8414 §2, RFC 9207 §3, and the required members of
 * OpenID Connect Discovery). All URLs derive from the base URL, never from the request.
 */
const buildMetadata = (baseUrl: string) => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  registration_endpoint: `${baseUrl}/oauth/register`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  jwks_uri: `${baseUrl}/oauth/jwks`,
  scopes_supported: [...MCP_SCOPES, 'offline_access'],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: [...AUTH_METHODS],
  revocation_endpoint_auth_methods_supported: [...AUTH_METHODS],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
})

const MAX_BODY_BYTES = 64 * 1_024
const MAX_JSON_DEPTH = 8

const ANYONE = { access: 'anyone' } as const

const METADATA_PATHS = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

export type ClientEndpointsParts = {
  baseUrl: string
  forwardToLibrary: ForwardToLibrary
  register: Register
  limiter: RequestLimiter
  isHttps: boolean
  origins: ClientOrigins
}

/**
 * Allows requests from pages of any origin, because no endpoint here uses cookies (Fetch §3.2.5: without credentials).
 */
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

/** Sends errors in OAuth's format (RFC 6749 §5.2). */
const sendOAuthErrors = (app: FastifyInstance): void => {
  const read = createErrorReader(MAX_BODY_BYTES)
  app.setErrorHandler((error, request, reply) => {
    const { status, code, message, retryAfterSeconds } = read(error, request)
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
    return reply.code(status).send({ error: OAUTH_ERRORS.get(code) ?? 'invalid_request', error_description: message })
  })
}

/**
 * Leaves bodies unread, because the library parses forms of up to 56 kB itself. Requests that declare a body over our
 * own limit are rejected first.
 */
const leaveBodiesUnread = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onRequest', async ({ headers }) => {
    if (Number(headers['content-length'] ?? 0) <= MAX_BODY_BYTES) return
    throw new AppError('payload_too_large', `The request body is larger than ${MAX_BODY_BYTES} bytes.`)
  })
}

/** Registers the endpoints for tokens, revocation and keys, which the library implements. */
const libraryEndpoints =
  ({ forwardToLibrary }: ClientEndpointsParts) =>
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
          await forwardToLibrary(request, openToAllOrigins(reply, method))
          reply.hijack()
        },
      })
    }
  }

const registrationEndpoint =
  ({ register }: ClientEndpointsParts) =>
  async (app: FastifyInstance): Promise<void> => {
    readJsonBodies(app, MAX_JSON_DEPTH)
    app.addHook('onRequest', async (_request, reply) => {
      openToAllOrigins(reply, 'POST')
    })
    app.options('/oauth/register', { config: ANYONE }, (_request, reply) => reply.code(204).send())
    app.post('/oauth/register', { config: ANYONE, bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
      const registered = await register(request.body, networkOf(request.ip))
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

/** Registers the endpoints that OAuth clients call directly, without a browser. */
export const clientEndpoints =
  (parts: ClientEndpointsParts) =>
  async (app: FastifyInstance): Promise<void> => {
    await app.register(helmet, {
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      strictTransportSecurity: parts.isHttps,
    })
    sendOAuthErrors(app)
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })
    openToPages(app, parts.origins)
    app.addHook('onRequest', parts.limiter)
    await app.register(metadataEndpoints(parts))
    await app.register(registrationEndpoint(parts))
    await app.register(libraryEndpoints(parts))
  }
