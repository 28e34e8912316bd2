import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Database } from '../../lib/db/client.ts'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import { userRoute } from '../frame/user-page.ts'
import { listActions, listPages } from './destinations.ts'
import { type FoundByName, findByName, findMembers } from './palette.store.ts'
import { toPaletteGroups } from './palette.view.ts'

/** Maximum results of each kind. */
const MAX_RESULTS = 5
/** Maximum organizations whose pages are offered. */
const MAX_ORGANIZATIONS = 50

type Parts = {
  db: Database
  organizations: Pick<OrganizationService, 'listOrganizations'>
  upstreamOffers: Pick<UpstreamOffers, 'findTools'>
}

type PaletteSearch = { text: string; kind: 'all' | 'commands' | 'members' }

/** Parses a search. `>` at its start restricts it to pages and actions, and `@` to members. */
const parseSearch = (typed: string): PaletteSearch => {
  if (typed.startsWith('>')) return { text: typed.slice(1).trim(), kind: 'commands' }
  if (typed.startsWith('@')) return { text: typed.slice(1).trim(), kind: 'members' }
  return { text: typed, kind: 'all' }
}

const NOTHING: FoundByName = {
  servers: [],
  upstreams: [],
  toolkits: [],
  tools: [],
  instances: [],
  upstreamTools: [],
  members: [],
}

/** Registers the search over everything: a page, and the options that the palette shows as a user types. */
export const palettePages: FastifyPluginAsync<Parts> = async (app, { db, organizations, upstreamOffers }) => {
  const findNamed = async (actor: Actor, { text, kind }: PaletteSearch): Promise<FoundByName> => {
    const search = { db, actor, text, limit: MAX_RESULTS }
    if (kind === 'members') return { ...NOTHING, members: await findMembers(search) }
    return kind === 'all' && text !== '' ? findByName(search, upstreamOffers.findTools) : NOTHING
  }

  const findCommands = async (actor: Actor, { kind }: PaletteSearch) => {
    if (kind === 'members') return { pages: [], actions: [] }
    const own = await organizations.listOrganizations(actor, { limit: MAX_ORGANIZATIONS, afterId: undefined })
    return { pages: listPages(actor, own), actions: listActions(actor, own) }
  }

  const find = async (request: FastifyRequest) => {
    const actor = actorOf(request)
    const { q } = listQuery.parse(request.query)
    const search = parseSearch(q)
    const found = { ...(await findNamed(actor, search)), ...(await findCommands(actor, search)) }
    const groups = toPaletteGroups(found, search.text)
    const count = groups.reduce((sum, { items }) => sum + items.length, 0)
    return { search: q, groups, summary: count === 0 ? 'Nothing matches your search.' : formatCount(count, 'result') }
  }

  app.get('/search', userRoute, async (request, reply) =>
    reply.page('palette/search', { title: 'Search', ...(await find(request)) }),
  )
  app.get('/search/options', userRoute, async (request, reply) =>
    reply.fragment('palette/options', await find(request)),
  )
}
