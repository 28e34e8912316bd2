import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { serverParams, uuidParams } from '../../lib/http/schemas.ts'
import type { UpstreamCatalogues } from '../../upstreams/catalogue/catalogues.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import type { Upstream, UpstreamState } from '../../upstreams/upstream.ts'
import type { UpstreamWithGlobals } from '../../upstreams/upstream-reading.ts'
import { CreateUpstream, UpdateUpstream, UpstreamOfferView, UpstreamView } from '../../upstreams/upstreams.schema.ts'
import type { UpstreamService } from '../../upstreams/upstreams.service.ts'
import { toOfferView, toUpstreamView } from './upstreams.view.ts'

const params = uuidParams

type Parts = {
  upstreams: UpstreamService
  upstreamCatalogues: Pick<UpstreamCatalogues, 'refresh'>
  upstreamOffers: Pick<UpstreamOffers, 'listSkipped'>
  /** Returns the state of the upstream's connection in this process. */
  upstreamStateOf: (upstream: Upstream) => UpstreamState
}

export const upstreamRoutes: FastifyPluginAsyncZod<Parts> = async (
  app,
  { upstreams, upstreamCatalogues, upstreamOffers, upstreamStateOf },
) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['upstreams'] })
  const listViews = async (serverId: string, found: readonly UpstreamWithGlobals[]) => {
    const skipped = await upstreamOffers.listSkipped(serverId)
    return found.map(each => toUpstreamView(each, upstreamStateOf(each.upstream), skipped.get(each.upstream.id) ?? []))
  }
  const toView = async (found: UpstreamWithGlobals) => {
    const skipped = await upstreamOffers.listSkipped(found.upstream.serverId)
    return toUpstreamView(found, upstreamStateOf(found.upstream), skipped.get(found.upstream.id) ?? [])
  }
  const upstreamView = { schema: UpstreamView, toView }

  routes.create(
    '/servers/:uuid/upstreams',
    { params: serverParams, body: CreateUpstream },
    upstreamView,
    ({ actor, params, body }) => upstreams.createUpstream(actor, params.uuid, body),
  )
  routes.list(
    '/servers/:uuid/upstreams',
    { params: serverParams },
    viewAsIs(UpstreamView),
    async ({ actor, params, page }) => listViews(params.uuid, await upstreams.listUpstreams(actor, params.uuid, page)),
  )
  routes.get('/upstreams/:id', { params }, upstreamView, ({ actor, params }) => upstreams.getUpstream(actor, params.id))
  routes.update(
    '/upstreams/:id',
    { params, body: UpdateUpstream },
    upstreamView,
    async ({ actor, params: { id }, body }) => {
      await assertUnchanged(['id', 'serverId'], body, async () => (await upstreams.getUpstream(actor, id)).upstream)
      return upstreams.updateUpstream(actor, id, body)
    },
  )
  routes.perform('/upstreams/:id/refresh', { params }, viewAsIs(UpstreamOfferView), async ({ actor, params }) => {
    const upstream = await upstreams.getUpstreamForUse(actor, params.id)
    const refreshed = await upstreamCatalogues.refresh(upstream)
    const skipped = await upstreamOffers.listSkipped(upstream.serverId)
    return toOfferView(refreshed, skipped.get(upstream.id) ?? [])
  })
  routes.remove('/upstreams/:id', { params }, ({ actor, params }) => upstreams.removeUpstream(actor, params.id))
}
