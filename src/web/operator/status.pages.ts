import type { FastifyPluginAsync } from 'fastify'
import type { DatabaseHealth } from '../../lib/db/health.ts'
import type { Notices } from '../../lib/process/notices.ts'

type Parts = {
  databaseHealth: Pick<DatabaseHealth, 'check'>
  notices: Pick<Notices, 'has'>
  isStopping: () => boolean
}

/** Registers `/status`, a public page that shows whether Patchbay accepts requests. Programs use `/readyz` instead. */
export const statusPages: FastifyPluginAsync<Parts> = async (app, { databaseHealth, notices, isStopping }) => {
  app.get('/status', { config: { access: 'anyone' } }, async (_request, reply) => {
    await databaseHealth.check()
    const isDatabaseWell = !notices.has('database_unreachable') && !notices.has('database_damaged')
    const isWell = isDatabaseWell && !isStopping()
    const data = { title: 'System status', isWell, isDatabaseWell, isStopping: isStopping() }
    return reply.page('operator/status', { ...data, width: 'narrow' }, { status: isWell ? 200 : 503 })
  })
}
