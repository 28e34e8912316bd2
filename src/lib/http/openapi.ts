import fastify, { type FastifyInstance, type FastifySchema, type RouteOptions } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { RouteAccess } from './access.ts'
import { PROBLEM_MEDIA_TYPE, problemSchema } from './problem.ts'
import { sessionCookieName } from './sessions.ts'

export type ApiDescription = { version: string; baseUrl: string }

const DESCRIPTION = `Everything that builders and operators can do in Patchbay.

Authenticate with a personal access token (\`Authorization: Bearer pbk_…\`) or the session cookie. With the cookie,
every request other than GET also needs the CSRF token from \`GET /session\` in the \`x-csrf-token\` header. GET requests
need the scope \`read\`, all others \`write\`. Lists are paginated: send \`nextCursor\` as \`cursor\` to get the next page.
Anything that belongs to another organization returns 404.`

const problem = (description: string) => ({ description, content: { [PROBLEM_MEDIA_TYPE]: { schema: problemSchema } } })

/** Adds the security requirements and error responses that all routes share to a route's schema. */
const describeRoute = (schema: FastifySchema, access: RouteAccess | undefined): FastifySchema => ({
  ...(access === 'anyone' && { security: [] }),
  ...schema,
  response: {
    ...(typeof schema.response === 'object' && schema.response),
    '4xx': problem('The request cannot be fulfilled; the problem says why'),
    '5xx': problem('Patchbay failed to handle the request'),
  },
})

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Returns the names of the components that part of the document references, directly or through other components. */
const referencesIn = (part: unknown, schemas: Record<string, unknown>, found = new Set<string>()): Set<string> => {
  for (const [key, value] of isRecord(part) ? Object.entries(part) : []) {
    const name = key === '$ref' && typeof value === 'string' ? value.split('/').at(-1) : undefined
    if (name === undefined) referencesIn(value, schemas, found)
    else if (!found.has(name)) referencesIn(schemas[name], schemas, found.add(name))
  }
  return found
}

/** Removes unreferenced components, because zod registers each named schema twice: for input and for output. */
const withoutUnusedSchemas = (document: { paths?: unknown; components?: { schemas?: object } }): object => {
  const schemas: Record<string, unknown> = { ...document.components?.schemas }
  const used = referencesIn(document.paths, schemas)
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
  return { ...document, components: { ...document.components, schemas: kept } }
}

const securitySchemes = (baseUrl: string) =>
  ({
    token: { type: 'http', scheme: 'bearer', description: 'A personal access token, pbk_…' },
    session: { type: 'apiKey', in: 'cookie', name: sessionCookieName(baseUrl.startsWith('https:')) },
  }) as const

/** Builds the document. The library records routes as they are added, so we add ours to a server that never listens. */
const documentOf = async (routes: readonly RouteOptions[], { version, baseUrl }: ApiDescription): Promise<string> => {
  const described = fastify({ exposeHeadRoutes: false })
  described.setValidatorCompiler(() => () => true)
  described.setSerializerCompiler(() => JSON.stringify)
  // Imported on first use, so that it does not slow down startup or commands.
  const { default: swagger } = await import('@fastify/swagger')
  await described.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Patchbay', version, description: DESCRIPTION },
      servers: [{ url: baseUrl }],
      components: { securitySchemes: securitySchemes(baseUrl) },
      security: [{ token: [] }, { session: [] }],
    },
    transform: ({ schema, route, ...rest }) =>
      jsonSchemaTransform({ ...rest, route, schema: describeRoute(schema ?? {}, route.config?.access) }),
    transformObject: jsonSchemaTransformObject,
  })
  for (const { method, url, schema, config } of routes) {
    described.route({ method, url, handler: () => undefined, ...(schema && { schema }), ...(config && { config }) })
  }
  await described.ready()
  return JSON.stringify(withoutUnusedSchemas(described.swagger()))
}

/**
 * Serves an OpenAPI 3.1 description of the scope's routes at `/openapi.json`, generated from their validation schemas.
 * Call before registering routes.
 */
export const describeApi = (api: FastifyInstance, description: ApiDescription): void => {
  const routes: RouteOptions[] = []
  api.addHook('onRoute', route => {
    if (route.method !== 'HEAD') routes.push(route)
  })
  let document: Promise<string> | undefined
  api.get('/openapi.json', { config: { access: 'anyone' }, schema: { hide: true } }, async (_request, reply) => {
    document ??= documentOf(routes, description)
    return reply.header('content-type', 'application/json; charset=utf-8').send(await document)
  })
}
