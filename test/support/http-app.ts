import session from '@fastify/session'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { configureApi } from '../../src/lib/http/api.ts'
import { createOriginPolicy } from '../../src/lib/http/origins.ts'
import { createHttpServer, type HttpServer } from '../../src/lib/http/server.ts'
import type { SessionOptions } from '../../src/lib/http/sessions.ts'
import { type Actor, SCOPES, type Scope } from '../../src/lib/kernel/actor.ts'
import { MAX_JSON_DEPTH, MAX_REQUEST_BYTES } from '../../src/lib/kernel/limits.ts'

export const BASE_URL = 'http://localhost:8080'

const USERS: ReadonlyMap<string, { isOperator: boolean }> = new Map([
  ['operator', { isOperator: true }],
  ['user', { isOperator: false }],
])

const toActor = (userId: string, scopes: readonly Scope[]): Actor | undefined => {
  const user = USERS.get(userId)
  return (
    user && {
      userId,
      email: `${userId}@example.com`,
      isOperator: user.isOperator,
      isUnconfirmed: false,
      scopes: new Set(scopes),
      memberships: new Map(),
    }
  )
}

export type HttpAppOptions = {
  routes?: FastifyPluginAsyncZod
  baseUrl?: string
  allowedOrigins?: string[]
  listensOnLoopback?: boolean
  trustProxy?: string[]
  sessions?: Partial<SessionOptions>
}

/**
 * Builds the HTTP layer alone, with the test's own routes. A token names the user and the scopes, such as `Bearer
 * user:read,write`. `logs` contains the parsed log lines.
 */
export const buildHttpApp = async (options: HttpAppOptions = {}): Promise<{ app: HttpServer; logs: unknown[] }> => {
  const { routes, baseUrl = BASE_URL, allowedOrigins = [], listensOnLoopback = true, trustProxy = [] } = options
  const logs: unknown[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => logs.push(JSON.parse(line)) })
  const app = createHttpServer({ trustProxy, maxRequestBytes: MAX_REQUEST_BYTES, logger })
  app.get('/outside', async () => 'not the API')
  app.register(
    async api => {
      await configureApi(api, {
        maxJsonDepth: MAX_JSON_DEPTH,
        origins: createOriginPolicy({ baseUrl, allowedOrigins, listensOnLoopback }),
        sessions: {
          store: new session.MemoryStore(),
          secrets: ['a secret of at least thirty-two characters'],
          isHttps: baseUrl.startsWith('https:'),
          now: Date.now,
          ...options.sessions,
        },
        actors: {
          findActorByToken: async token => {
            const [userId = '', scopes = ''] = token.split(':')
            const named = SCOPES.filter(scope => scopes.split(',').includes(scope))
            return toActor(userId, named)
          },
          findActorByUserId: async userId => toActor(userId, SCOPES),
        },
        description: { version: '0.0.0', baseUrl },
      })
      if (routes) await api.register(routes)
    },
    { prefix: '/api/v1' },
  )
  onTestFinished(() => app.close())
  await app.ready()
  return { app, logs }
}
