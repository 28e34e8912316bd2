import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { DatabaseHealth } from '../../lib/db/health.ts'
import { findProxyHeader } from '../../lib/http/proxy-headers.ts'
import type { Notices } from '../../lib/process/notices.ts'

/** How long a request waits for the database. Orchestrators often wait only one second for the response. */
const CHECK_MS = 500

type Parts = {
  databaseHealth: Pick<DatabaseHealth, 'check'>
  notices: Pick<Notices, 'list' | 'has'>
  isStopping: () => boolean
  /** Returns whether at least one server is in memory, whose calls need no database. */
  hasMounted: () => boolean
}

const Query = z.object({ strict: z.string().optional() })

/** Returns whether a request was sent on this machine, such as by `patchbay doctor`, and not through a proxy. */
const isFromHere = ({ socket: { remoteAddress, localAddress }, headers }: FastifyRequest): boolean =>
  remoteAddress === localAddress && findProxyHeader(headers) === undefined

/**
 * `/healthz` reports that the process runs. `/readyz` reports whether it should be sent calls: 503 if not, 200 if so.
 * While something is broken but calls succeed, the status is `degraded`, which is a 503 with `?strict`.
 */
export const healthRoutes: FastifyPluginAsync<Parts> = async (
  app,
  { databaseHealth, notices, isStopping, hasMounted },
) => {
  const canServe = (): boolean =>
    hasMounted() || !(notices.has('database_unreachable') || notices.has('database_damaged'))

  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    if (isStopping()) return reply.code(503).send({ status: 'stopping' })
    const waiting = new AbortController()
    await Promise.race([databaseHealth.check(), delay(CHECK_MS, undefined, waiting)]).finally(() => waiting.abort())
    const problems = notices.list('problem').map(({ message }) => message)
    const status = problems.length === 0 ? 'ok' : canServe() ? 'degraded' : 'unavailable'
    const isStrict = Query.safeParse(request.query).data?.strict !== undefined
    if (status === 'unavailable' || (status === 'degraded' && isStrict)) reply.code(503)
    return {
      status,
      ...(problems.length > 0 && { problems }),
      ...(isFromHere(request) && { advice: notices.list('advice').map(({ message }) => message) }),
    }
  })
}
