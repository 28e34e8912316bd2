import type { FastifyInstance } from 'fastify'
import { type CallFigureStore, createCallFigureStore } from '../history/index.ts'
import { type Actor, AppError, mayRole, organizationIdsOf } from '../kernel/index.ts'
import type { OrganizationService } from '../organizations/index.ts'
import type { Database } from '../platform/db/index.ts'
import {
  actorOf,
  addressOf,
  type FormPage,
  formText,
  listQuery,
  parseForm,
  parseInput,
  showForm,
  submitForm,
} from '../platform/http/index.ts'
import { CreateServer, listServerCards, type ServerCard, type ServerService, serverTabPath } from '../servers/index.ts'
import type { Upstream, UpstreamConnections, UpstreamOffers, UpstreamState } from '../upstreams/index.ts'
import { EMPTY_PATCH } from './landing-patch.ts'
import { toPatchFigure } from './patch/figure.ts'
import { createSampleServer, type SampleParts } from './sample-server.ts'
import { summarizeServers, toServerCardView } from './server-list.view.ts'

type Parts = SampleParts & {
  db: Database
  servers: ServerService
  organizations: Pick<OrganizationService, 'listOrganizations'>
  upstreamOffers: Pick<UpstreamOffers, 'countTools'>
  upstreamConnections: Pick<UpstreamConnections, 'listHeld'>
  /** How an upstream's connection is. */
  upstreamStateOf: (upstream: Upstream) => UpstreamState
  baseUrl: string
}

const config = { access: 'user' } as const

/** Cards on one page. */
const PAGE_SIZE = 12
/** From here on one looks for a server rather than at all of them. */
const SEARCHABLE_FROM = 7
/** Of one person, more than anybody may make: see organizations. */
const MAX_ORGANIZATIONS = 200

const NewServerForm = { name: formText, description: formText, access: formText, organizationId: formText }
const LABELS = { name: 'name', description: 'description', access: 'tier', organizationId: 'organization' }
const NOTES = new Map([['removed', 'The server is gone: its address answers nobody any more.']])

const TIERS = [
  { value: 'private', text: 'Only me, and whom I name', hint: 'Clients sign in with OAuth, in a browser.' },
  { value: 'organization', text: 'Everybody in the organization', hint: 'Clients sign in with OAuth, in a browser.' },
  {
    value: 'public',
    text: 'Anybody who has the address',
    hint: 'Nobody signs in. Do not put secrets to work here that strangers may not use.',
  },
] as const

const buildableIdsOf = (actor: Actor): string[] =>
  [...actor.memberships].filter(([, role]) => mayRole(role, 'build')).map(([id]) => id)

const listOf = (cards: readonly ServerCard[], figures: CallFigureStore) =>
  figures.countOfServers(
    cards.map(({ id }) => id),
    new Date(),
  )

/** The list of servers, and making one. */
export const serversPages =
  (parts: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const { db, servers, organizations, upstreamOffers, upstreamConnections, upstreamStateOf, baseUrl } = parts
    const figures = createCallFigureStore(db)
    const emptyPatch = toPatchFigure(EMPTY_PATCH)

    /** By server, its upstreams that could not be reached, in this process. */
    const findUpstreamsDown = () => {
      const down = upstreamConnections.listHeld().filter(({ upstream }) => upstreamStateOf(upstream).kind === 'failed')
      return Map.groupBy(down, ({ upstream }) => upstream.serverId)
    }

    app.get('/servers', { config }, async (request, reply) => {
      const actor = actorOf(request)
      const { q: search, cursor, done } = listQuery.extend({ done: formText }).parse(request.query)
      const query = { search, cursor, limit: PAGE_SIZE }
      const { items, nextCursor } = await listServerCards(db, organizationIdsOf(actor), query)
      const throughUpstreams = await upstreamOffers.countTools(items.map(({ id }) => id))
      const cards = items.map(card => ({ ...card, tools: card.tools + (throughUpstreams.get(card.id) ?? 0) }))
      const counts = await listOf(cards, figures)
      const isWhole = search === '' && cursor === undefined && nextCursor === null
      const isFirst = isWhole && cards.length === 0
      const isOfSeveral = actor.memberships.size > 1
      const down = findUpstreamsDown()
      return reply.page('dashboard/servers', {
        title: 'Servers',
        section: 'servers',
        search,
        isFirst,
        emptyPatch,
        isSearchable: !isWhole || cards.length >= SEARCHABLE_FROM,
        mayBuild: buildableIdsOf(actor).length > 0,
        summary: isWhole && !isFirst ? summarizeServers(cards, counts) : undefined,
        note: NOTES.get(done),
        cards: cards.flatMap(card => {
          const own = counts.get(card.id)
          if (own === undefined) return []
          return [toServerCardView(card, own, { baseUrl, isOfSeveral, upstreamsDown: down.get(card.id)?.length ?? 0 })]
        }),
        next: nextCursor === null ? undefined : addressOf('/servers', { q: search, cursor: nextCursor }),
      })
    })

    const newServerPage = async (actor: Actor, typed: Record<string, string> = {}): Promise<FormPage> => {
      const ids = new Set(buildableIdsOf(actor))
      if (ids.size === 0) throw new AppError('forbidden', 'Your role in your organizations does not allow this.')
      const all = await organizations.listOrganizations(actor, { limit: MAX_ORGANIZATIONS, afterId: undefined })
      const buildable = all.filter(({ id }) => ids.has(id)).map(({ id, name }) => ({ value: id, text: name }))
      const data = { title: 'New server', section: 'servers', width: 'narrow', tiers: TIERS } as const
      const isOfSeveral = buildable.length > 1
      return {
        view: 'dashboard/new-server',
        data: { ...data, typed, tier: typed.access ?? 'private', organizations: isOfSeveral ? buildable : [] },
        labels: LABELS,
      }
    }

    app.get('/servers/new', { config }, async (request, reply) =>
      showForm(reply, await newServerPage(actorOf(request))),
    )

    app.post('/servers/new', { config }, async (request, reply) => {
      const actor = actorOf(request)
      const { organizationId, ...form } = parseForm(NewServerForm, request.body)
      return submitForm(reply, await newServerPage(actor, { ...form, organizationId }), async () => {
        const [only] = buildableIdsOf(actor)
        const named = organizationId === '' ? only : organizationId
        const server = await servers.createServer(actor, parseInput(CreateServer, { ...form, organizationId: named }))
        return reply.redirect(`${serverTabPath(server.id, 'overview')}?done=made`, 303)
      })
    })

    app.post('/servers/sample', { config }, async (request, reply) => {
      const actor = actorOf(request)
      const [organizationId] = buildableIdsOf(actor)
      if (organizationId === undefined) throw new AppError('forbidden', 'Your role does not allow this.')
      const serverId = await createSampleServer(parts, actor, organizationId)
      return reply.redirect(`${serverTabPath(serverId, 'overview')}?done=sample`, 303)
    })
  }
