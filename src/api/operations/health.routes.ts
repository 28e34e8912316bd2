import type { FastifyPluginAsync } from 'fastify'
import type { Database } from '../../lib/db/client.ts'
import { isAnswering } from '../../lib/db/probe.ts'

/** `/healthz` reports that the process runs; `/readyz` that it accepts requests and the database responds. */
export const healthRoutes =
  ({ db, isStopping }: { db: Database; isStopping: () => boolean }): FastifyPluginAsync =>
  async app => {
    app.get('/healthz', async () => ({ status: 'ok' }))
    app.get('/readyz', async (_request, reply) => {
      if (isStopping()) return reply.code(503).send({ status: 'stopping' })
      return (await isAnswering(db)) ? { status: 'ok' } : reply.code(503).send({ status: 'database does not answer' })
    })
  }
