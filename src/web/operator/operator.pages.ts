import type { FastifyInstance, FastifyRequest } from 'fastify'
import { countAllUsers, listAllUsers } from '../accounts/index.ts'
import type { CallLedger } from '../execution/index.ts'
import type { Recorder } from '../history/index.ts'
import { type AuditLog, readAuditTable } from '../platform/audit/index.ts'
import { adviseOnBaseUrl } from '../platform/base-url-advice.ts'
import { type Database, measureDatabase } from '../platform/db/index.ts'
import { addressOf, idPageOf, listQuery, toIdPage } from '../platform/http/index.ts'
import { watchLoopDelay } from '../platform/loop-delay.ts'
import type { Settings } from '../platform/settings.ts'
import { countAllServers } from '../servers/index.ts'
import { toHealthView, toUserRow } from './operator.view.ts'

type Parts = {
  db: Database
  recorder: Pick<Recorder, 'stats'>
  callLedger: Pick<CallLedger, 'stats'>
  audit: AuditLog
  settings: Settings
  version: string
  /** Of this process. */
  streams: { openStreamCount: () => number; mountedCount: () => number }
}

const config = { access: 'operator' } as const
const USERS_PER_PAGE = 100

const TABS = [
  { href: '/operator', text: 'Health' },
  { href: '/operator/users', text: 'Accounts' },
  { href: '/operator/settings', text: 'Settings' },
  { href: '/operator/audit', text: 'Audit' },
] as const
type OperatorPath = (typeof TABS)[number]['href']

const frameOf = (path: OperatorPath) => {
  const tabs = TABS.map(tab => ({ ...tab, isCurrent: tab.href === path }))
  const current = tabs.find(({ isCurrent }) => isCurrent)
  return { title: `${current?.text ?? ''} · Operator`, section: 'operator', tabs } as const
}

/** Who may not measure it, such as a role of PostgreSQL without the right, still sees the page. */
const sizeOf = (db: Database): Promise<number | undefined> => measureDatabase(db).catch(() => undefined)

/** What the browser asked, as an origin. */
const askedAt = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host}`

/** How this installation does, who has an account, and how it is set up: to be looked at by its operator. */
export const operatorPages =
  ({ db, recorder, callLedger, audit, settings, version, streams }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const loop = watchLoopDelay()
    app.addHook('onClose', async () => loop.close())

    app.get('/operator', { config }, async (request, reply) => {
      const [bytes, users, servers] = await Promise.all([sizeOf(db), countAllUsers(db), countAllServers(db)])
      const health = toHealthView({
        version,
        database: { kind: db.kind, bytes },
        users,
        servers,
        loop: loop.read(),
        records: recorder.stats(),
        ledger: callLedger.stats(),
        openStreams: streams.openStreamCount(),
        mountedServers: streams.mountedCount(),
        baseUrl: { url: settings.baseUrl, advice: adviseOnBaseUrl(settings), askedAt: askedAt(request) },
      })
      return reply.page('dashboard/operator', { ...frameOf('/operator'), health })
    })

    app.get('/operator/users', { config }, async (request, reply) => {
      const { q, cursor } = listQuery.parse(request.query)
      const page = idPageOf({ limit: USERS_PER_PAGE, cursor })
      const { items, nextCursor } = toIdPage(await listAllUsers(db, q, page), page, toUserRow)
      return reply.page('dashboard/operator-users', {
        ...frameOf('/operator/users'),
        users: items,
        search: q,
        next: nextCursor === null ? undefined : addressOf('/operator/users', { q, cursor: nextCursor }),
      })
    })

    app.get('/operator/settings', { config }, async (_request, reply) =>
      reply.page('dashboard/operator-settings', {
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
      return reply.page('dashboard/operator-audit', data, table.isBad ? { status: 400 } : {})
    })
  }
