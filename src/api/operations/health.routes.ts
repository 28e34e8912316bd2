import type { FastifyPluginAsync } from 'fastify'
import type { Database } from '../../lib/db/client.ts'
import { isAnswering } from '../../lib/db/probe.ts'

/** `/healthz`: the process lives. `/readyz`: it takes requests: the database answers and no stop has begun. */
export const healthRoutes =
  ({ db, isStopping }: { db: Database; isStopping: () => boolean }): FastifyPluginAsync =>
  async app => {
    app.get('/healthz', async () => ({ status: 'ok' }))
    app.get('/readyz', async (_request, reply) => {
      if (isStopping()) return reply.code(503).send({ status: 'stopping' })
      return (await isAnswering(db)) ? { status: 'ok' } : reply.code(503).send({ status: 'database does not answer' })
    })
  }
