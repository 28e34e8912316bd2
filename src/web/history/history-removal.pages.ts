import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { CallHistory } from '../../runtime/history/call-history.service.ts'
import type { CallPlace } from '../../servers/access/call-scope.store.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, serverRoute } from '../frame/server-tab.ts'
import { idOf, idRoute, queryOf } from '../frame/user-page.ts'
import { getOrganizationFrame, organizationPath } from '../organizations/organization-frame.ts'
import { type HistoryQuery, readHistoryQuery, toAddress } from './history-query.ts'

type Counted = { calls: number; isCut: boolean }
type Loaded = { place: CallPlace; path: string; name: string; query: HistoryQuery; counted: Counted; filters: string[] }

const Progress = z.object({ removed: z.coerce.number().int().min(1).optional().catch(undefined) })

const countText = ({ calls, isCut }: Counted): string =>
  `${isCut ? 'at least ' : ''}${formatNumber(calls)} ${calls === 1 && !isCut ? 'call' : 'calls'}`

/** Parses the filters. Throws `invalid_request` if they are wrong. */
const readFilters = (request: FastifyRequest): HistoryQuery => {
  const query = readHistoryQuery(queryOf(request))
  if (query.errors.length > 0) throw new AppError('invalid_request', query.errors.join(' '))
  return query
}

/** The text and the way back of the confirmation page. */
const toShown = (request: FastifyRequest, { path, query, counted, filters }: Loaded) => {
  const { removed } = Progress.parse(request.query)
  const so = removed === undefined ? '' : `${formatCount(removed, 'call')} deleted so far. `
  return {
    text: `${so}${countText(counted)} of the history match the filters and will be deleted, with their requests and arguments. Figures and charts keep counting them. This cannot be undone.`,
    items: filters.map(text => ({ text })),
    // More may match among the calls that were not looked at.
    isBlocked: counted.calls === 0 && !counted.isCut,
    back: toAddress(path, query.given),
  }
}

const filterTexts = ({ forApi }: HistoryQuery): string[] => forApi.map(([name, value]) => `${name}: ${value}`)

/** Registers the pages on which an admin confirms that the calls that match the filters should be deleted. */
export const historyRemovalPages: FastifyPluginAsync<{
  frames: ServerFrameParts
  organizations: OrganizationService
  callHistory: Pick<CallHistory, 'removeExecutions' | 'countExecutions'>
}> = async (app, { frames, organizations, callHistory }) => {
  const load = async (request: FastifyRequest, place: CallPlace, path: string, name: string): Promise<Loaded> => {
    const query = readFilters(request)
    const counted = await callHistory.countExecutions(actorOf(request), place, query.filters)
    return { place, path, name, query, counted, filters: filterTexts(query) }
  }

  /** Deletes calls. If there are more than one request deletes, asks again. */
  const remove = async (request: FastifyRequest, { place, path, query }: Loaded, reply: FastifyReply) => {
    const removal = { ...query.filters, cursor: query.cursor || undefined }
    const done = await callHistory.removeExecutions(actorOf(request), place, removal, signalOf(reply))
    const { removed = 0 } = Progress.parse(request.query)
    const count = String(done.removed + removed)
    if (done.nextCursor !== null) {
      const progress = [
        ['removed', count],
        ['cursor', done.nextCursor],
      ] as const
      return toAddress(`${path}/removal`, [...query.given, ...progress])
    }
    return toAddress(path, [
      ['done', 'removed'],
      ['count', count],
    ])
  }

  const texts = {
    button: 'Delete calls',
    nameOf: ({ counted, name }: Loaded) => `${countText(counted)} of ${name}`,
    typedNameOf: ({ name }: Loaded) => name,
    remove,
  }

  const { frameOf } = createServerTab(frames, 'history')
  removalPage<Loaded & { server: ServerFrame }>(app, '/servers/:uuid/history/removal', {
    ...serverRoute,
    ...texts,
    load: async request => {
      const server = await frameOf(request)
      assertMay(actorOf(request), server.organizationId, 'manage')
      const path = serverTabPath(server.id, 'history')
      return { server, ...(await load(request, { serverId: server.id }, path, server.name)) }
    },
    page: (request, loaded) => ({ server: loaded.server, ...toShown(request, loaded) }),
  })

  removalPage<Loaded>(app, '/organizations/:id/history/removal', {
    ...idRoute,
    ...texts,
    load: async request => {
      const id = idOf(request)
      assertMay(actorOf(request), id, 'manage')
      const { name } = await getOrganizationFrame(organizations, actorOf(request), id, 'history')
      return load(request, { organizationId: id }, organizationPath(id, 'history'), name)
    },
    page: (request, loaded) => ({
      crumbs: [
        { href: organizationPath(idOf(request), 'members'), text: loaded.name },
        { href: loaded.path, text: 'History' },
      ],
      section: 'organizations',
      ...toShown(request, loaded),
    }),
  })
}
