import type { Database } from '../../lib/db/client.ts'
import { containing, startingWith } from '../../lib/db/containing.ts'
import { type Actor, may, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { openTo } from '../../servers/access/open-to.store.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'

type TextFilter = ReturnType<typeof containing> | ReturnType<typeof startingWith>

type Search = {
  db: Database
  actor: Actor
  text: string
  /** Maximum number of rows. */
  limit: number
}

/** Finds the rows that start with the text, and fills up with rows that contain it elsewhere. */
const findPrefixFirst = async <Row extends { id: string }>(
  { db, text, limit }: Search,
  find: (filter: TextFilter, take: number) => Promise<Row[]>,
): Promise<Row[]> => {
  const first = await find(startingWith(db, text), limit)
  if (first.length === limit) return first
  const known = new Set(first.map(({ id }) => id))
  // The rows found already may be among these.
  const more = await find(containing(db, text), limit + first.length)
  return [...first, ...more.filter(({ id }) => !known.has(id))].slice(0, limit)
}

/** Selects the servers that the actor may use. */
const usableBy = (actor: Actor) => ({ AND: [openTo(actor), { removedAt: null }] })

/** Selects the toolkits that the actor's organizations can edit. */
const ownedBy = (actor: Actor) => ({ organizationId: { in: organizationIdsOf(actor) }, snapshotOfId: null })

const findServers = (search: Search) =>
  findPrefixFirst(search, (name, take) =>
    search.db.server.findMany({
      where: { ...usableBy(search.actor), name },
      select: { id: true, name: true, organization: { select: { name: true } } },
      orderBy: { name: 'asc' },
      take,
    }),
  )

const findUpstreams = (search: Search) =>
  findPrefixFirst(search, (name, take) =>
    search.db.upstream.findMany({
      where: { name, server: usableBy(search.actor) },
      select: { id: true, name: true, server: { select: { id: true, name: true } } },
      orderBy: { name: 'asc' },
      take,
    }),
  )

const findToolkits = (search: Search) =>
  findPrefixFirst(search, (title, take) =>
    search.db.toolkit.findMany({
      where: { ...ownedBy(search.actor), title },
      select: { id: true, title: true, organization: { select: { name: true } } },
      orderBy: { title: 'asc' },
      take,
    }),
  )

const findTools = (search: Search) =>
  findPrefixFirst(search, (filter, take) =>
    search.db.tool.findMany({
      where: { OR: [{ name: filter }, { title: filter }], toolkit: ownedBy(search.actor) },
      select: { id: true, name: true, title: true, toolkit: { select: { title: true } } },
      orderBy: { name: 'asc' },
      take,
    }),
  )

const findInstances = (search: Search) =>
  findPrefixFirst(search, (name, take) =>
    search.db.instance.findMany({
      where: { name, server: usableBy(search.actor) },
      select: { id: true, name: true, server: { select: { id: true, name: true, presentation: true } } },
      orderBy: { name: 'asc' },
      take,
    }),
  )

/** Maximum number of MCP servers whose tools are searched. */
const MAX_SEARCHED_UPSTREAMS = 200

export type FindUpstreamTools = UpstreamOffers['findTools']

/** Finds tools of MCP servers, by the names that clients see. Of many MCP servers, searches those changed last. */
const findUpstreamTools = async ({ db, actor, text, limit }: Search, findToolsOf: FindUpstreamTools) => {
  const upstreams = await db.upstream.findMany({
    where: { isEnabled: true, server: { AND: [usableBy(actor), { presentation: { not: 'passthrough' } }] } },
    select: { id: true, name: true, server: { select: { id: true, name: true, organizationId: true } } },
    orderBy: { updatedAt: 'desc' },
    take: MAX_SEARCHED_UPSTREAMS,
  })
  const byId = new Map(upstreams.map(upstream => [upstream.id, upstream]))
  const found = await findToolsOf([...byId.keys()], text, limit)
  return found.flatMap(({ upstream: { id }, tool, name }) => {
    const upstream = byId.get(id)
    if (upstream === undefined) return []
    return { upstream, tool, name, mayBuild: may(actor, upstream.server.organizationId, 'build') }
  })
}

/** Finds members of the actor's organizations by email. */
export const findMembers = (search: Search) =>
  findPrefixFirst(search, (email, take) =>
    search.db.membership.findMany({
      where: { organizationId: { in: organizationIdsOf(search.actor) }, user: { email } },
      select: {
        id: true,
        organizationId: true,
        user: { select: { email: true } },
        organization: { select: { name: true } },
      },
      orderBy: { user: { email: 'asc' } },
      take,
    }),
  )

/** Finds everything that the palette lists by name: at most `limit` rows of each kind that the actor may see. */
export const findByName = async (search: Search, findToolsOf: FindUpstreamTools) => {
  const [servers, upstreams, toolkits, tools, instances, upstreamTools, members] = await Promise.all([
    findServers(search),
    findUpstreams(search),
    findToolkits(search),
    findTools(search),
    findInstances(search),
    findUpstreamTools(search, findToolsOf),
    findMembers(search),
  ])
  return { servers, upstreams, toolkits, tools, instances, upstreamTools, members }
}

export type FoundByName = Awaited<ReturnType<typeof findByName>>
