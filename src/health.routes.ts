import type { FastifyPluginAsync } from 'fastify'
import type { Database } from './platform/db/index.ts'

/** Longest a readiness probe waits for the database. */
const PROBE_TIMEOUT_MS = 2_000

const answers = async (db: Database): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, false)
  })
  try {
    return await Promise.race([db.$queryRaw`SELECT 1`.then(() => true), timeout])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

/** `/healthz`: the process lives. `/readyz`: it takes requests: the database answers and no stop has begun. */
export const healthRoutes =
  ({ db, isStopping }: { db: Database; isStopping: () => boolean }): FastifyPluginAsync =>
  async app => {
    app.get('/healthz', async () => ({ status: 'ok' }))
    app.get('/readyz', async (_request, reply) => {
      if (isStopping()) return reply.code(503).send({ status: 'stopping' })
      return (await answers(db)) ? { status: 'ok' } : reply.code(503).send({ status: 'database does not answer' })
    })
  }
