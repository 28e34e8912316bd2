import type { FastifyPluginAsync } from 'fastify'
import type { Database } from '../../lib/db/client.ts'
import { isAnswering } from '../../lib/db/probe.ts'

/** Registers `/status`, a public page that shows whether Patchbay accepts requests. Programs use `/readyz` instead. */
export const statusPages: FastifyPluginAsync<{ db: Database; isStopping: () => boolean }> = async (
  app,
  { db, isStopping },
) => {
  app.get('/status', { config: { access: 'anyone' } }, async (_request, reply) => {
    const isDatabaseWell = await isAnswering(db)
    const isWell = isDatabaseWell && !isStopping()
    const data = { title: 'System status', isWell, isDatabaseWell, isStopping: isStopping() }
    return reply.page('operator/status', { ...data, width: 'narrow' }, { status: isWell ? 200 : 503 })
  })
}
