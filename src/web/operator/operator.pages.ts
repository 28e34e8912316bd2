import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Recorder } from '../../history/execution-record.ts'
import { listSlowestTools } from '../../history/slowest-tools.store.ts'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { countAllUsers, listAllUsers } from '../../identity/user-list.store.ts'
import type { JobPool } from '../../jobs/job-pool.ts'
import type { Database } from '../../lib/db/client.ts'
import { DatabaseFailure } from '../../lib/db/failures.ts'
import { listConnectedProcesses, measureDatabase } from '../../lib/db/measure.ts'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import type { HttpFailures } from '../../lib/outbound/client.ts'
import type { FailingOrigin } from '../../lib/outbound/failures/circuits.ts'
import { adviseOnBaseUrl } from '../../lib/process/base-url-advice.ts'
import type { Notices } from '../../lib/process/notices.ts'
import type { Settings } from '../../lib/process/settings.ts'
import { VERSION } from '../../lib/process/version.ts'
import type { VitalsWatch } from '../../lib/process/vitals.ts'
import type { CallLedger } from '../../results/ledger/call-ledger.ts'
import { countAllServers } from '../../servers/server-names.store.ts'
import { readAuditTable } from '../frame/audit-table.ts'
import { readList } from '../frame/user-page.ts'
import { type NamedFailingOrigin, toHealthView, toUserRow } from './operator.view.ts'
import { frameOf } from './operator-tabs.ts'

type Parts = {
  db: Database
  recorder: Pick<Recorder, 'stats'>
  callLedger: Pick<CallLedger, 'stats'>
  notices: Pick<Notices, 'list'>
  audit: AuditLog
  settings: Settings
  vitals: Pick<VitalsWatch, 'check'>
  workers: Pick<JobPool, 'stats'>
  callFailures: HttpFailures
  /** Counts for this process only. */
  registry: { openStreamCount: () => number; mountedCount: () => number }
}

const config = { access: 'operator' } as const
const USERS_PER_PAGE = 100

/** Returns the database size in bytes; undefined if it cannot be measured, e.g. for lack of PostgreSQL privileges. */
const sizeOf = (db: Database): Promise<number | undefined> => measureDatabase(db).catch(() => undefined)

/** Adds the names of the organizations. */
const nameFailing = async (db: Database, failing: readonly FailingOrigin[]): Promise<NamedFailingOrigin[]> => {
  const ids = [...new Set(failing.flatMap(({ organizationId }) => organizationId ?? []))]
  const where = { id: { in: ids } }
  const found = ids.length === 0 ? [] : await db.organization.findMany({ where, select: { id: true, name: true } })
  const names = new Map(found.map(({ id, name }) => [id, name]))
  return failing.map(one => ({ ...one, organization: names.get(one.organizationId ?? '') }))
}

/** Returns the origin to which the browser sent the request. */
const askedAt = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host}`

/** Registers the operator's pages to look at: health, accounts, settings and audit log. */
export const operatorPages: FastifyPluginAsync<Parts> = async (
  app,
  { db, recorder, callLedger, notices, audit, settings, vitals, workers, callFailures, registry },
) => {
  // Nobody can be identified while the database fails. So anybody sees this page, which says no more than `/readyz`.
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof DatabaseFailure) || isFragmentRequest(request)) throw error
    const found = notices.list('problem').map(({ message }) => message)
    const problems = found.length > 0 ? found : [error.message]
    const data = { title: 'The database is not available', width: 'narrow', problems, kind: db.kind } as const
    return reply.page('operator/outage', data, { status: 503 })
  })

  app.get('/operator', { config }, async (request, reply) => {
    const [bytes, users, servers, processes, slowest, measured] = await Promise.all([
      sizeOf(db),
      countAllUsers(db),
      countAllServers(db),
      listConnectedProcesses(db),
      listSlowestTools(db),
      vitals.check(),
    ])
    const health = toHealthView({
      version: VERSION,
      database: { kind: db.kind, bytes },
      users,
      servers,
      vitals: measured,
      jobs: workers.stats(),
      failing: await nameFailing(db, callFailures.listFailing()),
      retries: callFailures.countRetries(),
      processes,
      slowest,
      records: recorder.stats(),
      ledger: callLedger.stats(),
      notices: notices.list(),
      openStreams: registry.openStreamCount(),
      mountedServers: registry.mountedCount(),
      baseUrl: { url: settings.baseUrl, advice: adviseOnBaseUrl(settings), askedAt: askedAt(request) },
    })
    return reply.page('operator/operator', { ...frameOf('/operator'), health })
  })

  app.get('/operator/users', { config }, async (request, reply) => {
    const { q, cursor } = listQuery.parse(request.query)
    const place = { path: '/operator/users', cursor, query: { q }, limit: USERS_PER_PAGE }
    const { items, next } = await readList(place, page => listAllUsers(db, q, page), toUserRow(actorOf(request)))
    return reply.page('operator/operator-users', {
      ...frameOf('/operator/users'),
      users: items,
      search: q,
      next,
    })
  })

  app.get('/operator/settings', { config }, async (_request, reply) =>
    reply.page('operator/operator-settings', {
      ...frameOf('/operator/settings'),
      settings: settings.origins,
      unknown: settings.unknown,
    }),
  )

  app.get('/operator/audit', { config }, async (request, reply) => {
    const table = await readAuditTable(audit, {
      scope: { kind: 'installation' },
      query: request.query,
      path: '/operator/audit',
      filePath: '/api/v1/audit',
    })
    const data = { ...frameOf('/operator/audit'), audit: table }
    return reply.page('operator/operator-audit', data, table.isBad ? { status: 400 } : {})
  })
}
