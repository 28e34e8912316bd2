import type { FastifyPluginAsync } from 'fastify'
import type { Database } from '../../lib/db/client.ts'
import { isAnswering } from '../../lib/db/probe.ts'

/** `/healthz` reports that the process runs; `/readyz` that it accepts requests and the database responds. */
export const healthRoutes: FastifyPluginAsync<{ db: Database; isStopping: () => boolean }> = async (
  app,
  { db, isStopping },
) => {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (isStopping()) return reply.code(503).send({ status: 'stopping' })
    return (await isAnswering(db)) ? { status: 'ok' } : reply.code(503).send({ status: 'database does not answer' })
  })
}
