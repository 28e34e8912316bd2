import type { FastifyInstance } from 'fastify'
import { type Database, isAnswering } from '../platform/db/index.ts'

/** `/status`: whether Patchbay takes requests, for anybody; `/readyz` says the same to programs. */
export const statusPages =
  ({ db, isStopping }: { db: Database; isStopping: () => boolean }) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get('/status', { config: { access: 'anyone' } }, async (_request, reply) => {
      const isDatabaseWell = await isAnswering(db)
      const isWell = isDatabaseWell && !isStopping()
      const data = {
        title: 'System status',
        width: 'narrow',
        isWell,
        isDatabaseWell,
        isStopping: isStopping(),
      } as const
      return reply.page('dashboard/status', data, { status: isWell ? 200 : 503 })
    })
  }
