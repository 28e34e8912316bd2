import type { FastifyPluginAsync } from 'fastify'
import { createCallFigureStore } from '../../history/call-figures.store.ts'
import type { Database } from '../../lib/db/client.ts'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery, nextAddressOf } from '../../lib/http/list-query.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { buildableIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { AccessRequestService } from '../../servers/access/access-requests.service.ts'
import type { SampleService } from '../../servers/samples/samples.service.ts'
import { listServerCards } from '../../servers/server-cards.store.ts'
import { CreateServer } from '../../servers/servers.schema.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import type { UpstreamConnections } from '../../upstreams/connection/upstream-connections.ts'
import type { Upstream, UpstreamState } from '../../upstreams/upstream.ts'
import { toNoticeRows } from '../access/access.view.ts'
import { toPatchFigure } from '../diagram/figure.ts'
import { EMPTY_PATCH } from '../diagram/landing-patch.ts'
import { countTools, serverTabPath } from '../frame/server-frame.ts'
import { doneText, userRoute } from '../frame/user-page.ts'
import { createSampleServer, type SampleParts } from '../start/sample-server.ts'
import { isOpen, summarizeServers, toClosedCardView, toServerCardView } from './server-list.view.ts'

type Parts = SampleParts & {
  db: Database
  servers: ServerService
  samples: Pick<SampleService, 'noteSample' | 'listRemovable'>
  accessRequests: Pick<AccessRequestService, 'listNotices'>
  organizations: Pick<OrganizationService, 'listOrganizations'>
  upstreamOffers: Pick<UpstreamOffers, 'countTools'>
  upstreamConnections: Pick<UpstreamConnections, 'listKnown'>
  /** Returns the connection state of an upstream. */
  upstreamStateOf: (upstream: Upstream) => UpstreamState
  baseUrl: string
}

/** Cards per page. */
const PAGE_SIZE = 12
/** Minimum number of servers at which the list gets a search field. */
const SEARCHABLE_FROM = 7
/** Maximum organizations listed, more than the 100 that a user can create; see `tenancy/organizations.service.ts`. */
const MAX_ORGANIZATIONS = 200

const NewServerForm = { name: formText, description: formText, access: formText, organizationId: formText }
const LABELS = { name: 'name', description: 'description', access: 'tier', organizationId: 'organization' }
const NOTES = {
  removed: 'Server deleted. Its address no longer works.',
  'sample-removed': 'Sample removed. Its address no longer works.',
}

const TIERS = [
  { value: 'private', text: 'Only me, users I allow and admins', hint: 'Clients sign in with OAuth, in a browser.' },
  { value: 'organization', text: 'Everyone in the organization', hint: 'Clients sign in with OAuth, in a browser.' },
  {
    value: 'public',
    text: 'Anyone with the address',
    hint: 'No sign-in. Anyone can make calls that use your secrets, so add only those that may be used publicly.',
  },
] as const

/** Registers the list of servers and the form for creating one. */
export const serversPages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const {
    db,
    servers,
    samples,
    accessRequests,
    organizations,
    upstreamOffers,
    upstreamConnections,
    upstreamStateOf,
    baseUrl,
  } = parts
  const figures = createCallFigureStore(db)
  const emptyPatch = toPatchFigure(EMPTY_PATCH)

  /** Returns the upstreams that this process cannot reach, grouped by server ID. */
  const findUpstreamsDown = () => {
    const down = upstreamConnections.listKnown().filter(({ upstream }) => upstreamStateOf(upstream).kind === 'failed')
    return Map.groupBy(down, ({ upstream }) => upstream.serverId)
  }

  app.get('/servers', userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const { q: search, cursor } = listQuery.parse(request.query)
    const query = { search, cursor, limit: PAGE_SIZE }
    const { items, nextCursor } = await listServerCards(db, actor, query)
    const open = items.filter(isOpen)
    const throughUpstreams = await upstreamOffers.countTools(open.map(({ id }) => id))
    const cards = open.map(({ inside, ...card }) => ({
      ...card,
      inside: {
        ...inside,
        toolCount: countTools({
          passesOn: inside.passesOn,
          own: inside.tools,
          throughUpstreams: throughUpstreams.get(card.id) ?? 0,
        }),
      },
    }))
    const counted = open.map(({ id, inside }) => ({ serverId: id, callerId: inside.onlyCaller }))
    const counts = await figures.countOfServers(counted, new Date())
    const removable = await samples.listRemovable(
      actor,
      open.map(({ id }) => id),
    )
    const isWhole = search === '' && cursor === undefined && nextCursor === null
    const isFirst = isWhole && items.length === 0
    const isOfSeveral = actor.memberships.size > 1
    const down = findUpstreamsDown()
    return reply.page('overview/servers', {
      title: 'Servers',
      section: 'servers',
      search,
      isFirst,
      emptyPatch,
      isSearchable: !isWhole || items.length >= SEARCHABLE_FROM,
      mayBuild: buildableIdsOf(actor).length > 0,
      summary: isWhole && !isFirst ? summarizeServers(items.length, cards, counts) : undefined,
      note: doneText(request, NOTES),
      notices: toNoticeRows(await accessRequests.listNotices(actor)),
      cards: cards.flatMap(card => {
        const own = counts.get(card.id)
        if (own === undefined) return []
        const upstreamsDown = down.get(card.id)?.length ?? 0
        const isRemovable = removable.has(card.id)
        return [toServerCardView(card, own, { baseUrl, isOfSeveral, upstreamsDown, isRemovable })]
      }),
      closed: items.filter(card => !isOpen(card)).map(card => toClosedCardView(card, { isOfSeveral })),
      next: nextAddressOf('/servers', nextCursor, { q: search }),
    })
  })

  formPage(app, '/servers/new', {
    ...userRoute,
    fields: NewServerForm,
    load: request => {
      const actor = actorOf(request)
      const ids = buildableIdsOf(actor)
      if (ids.length === 0) throw new AppError('forbidden', 'Your role in your organizations does not allow this.')
      return { actor, ids }
    },
    page: async (_request, { actor, ids }, typed) => {
      const all = await organizations.listOrganizations(actor, { limit: MAX_ORGANIZATIONS, afterId: undefined })
      const buildable = all.filter(({ id }) => ids.includes(id)).map(({ id, name }) => ({ value: id, text: name }))
      return {
        view: 'overview/new-server',
        data: {
          title: 'New server',
          section: 'servers',
          width: 'narrow',
          tiers: TIERS,
          typed: typed ?? {},
          tier: typed?.access ?? 'private',
          organizations: buildable.length > 1 ? buildable : [],
        },
        labels: LABELS,
      }
    },
    save: async (_request, { actor, ids: [only] }, { organizationId, ...form }) => {
      const input = { ...form, organizationId: organizationId === '' ? only : organizationId }
      const server = await servers.createServer(actor, parseInput(CreateServer, input))
      return `${serverTabPath(server.id, 'overview')}?done=made`
    },
  })

  app.post('/servers/sample', userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const [organizationId] = buildableIdsOf(actor)
    if (organizationId === undefined) throw new AppError('forbidden', 'Your role does not allow this.')
    const serverId = await createSampleServer(parts, actor, organizationId)
    return reply.redirect(`${serverTabPath(serverId, 'overview')}?done=sample`, 303)
  })
}
