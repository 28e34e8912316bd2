import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf } from '../../lib/http/id-paging.ts'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { pageOf, pageQuery, toPage } from '../../lib/http/paging.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import type { UpstreamCatalogues } from '../../upstreams/catalogue/catalogues.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import type { Upstream, UpstreamState } from '../../upstreams/upstream.ts'
import { CreateUpstream, UpdateUpstream, UpstreamOfferView, UpstreamView } from '../../upstreams/upstreams.schema.ts'
import type { UpstreamService, UpstreamWithGlobals } from '../../upstreams/upstreams.service.ts'
import { toOfferView, toUpstreamView } from './upstreams.view.ts'

const config = { access: 'user' } as const
const tags = ['upstreams']
const serverParams = z.object({ uuid: uuidParam })

type Parts = {
  upstreams: UpstreamService
  upstreamCatalogues: Pick<UpstreamCatalogues, 'refresh'>
  upstreamOffers: Pick<UpstreamOffers, 'listSkipped'>
  /** State of the upstream's connection in this process. */
  stateOf: (upstream: Upstream) => UpstreamState
}

export const upstreamRoutes =
  ({ upstreams, upstreamCatalogues, upstreamOffers, stateOf }: Parts): FastifyPluginAsyncZod =>
  async app => {
    const viewsOf = async (serverId: string, found: readonly UpstreamWithGlobals[]) => {
      const skipped = await upstreamOffers.listSkipped(serverId)
      return found.map(each => toUpstreamView(each, stateOf(each.upstream), skipped.get(each.upstream.id) ?? []))
    }
    const viewOf = async (found: UpstreamWithGlobals) => {
      const skipped = await upstreamOffers.listSkipped(found.upstream.serverId)
      return toUpstreamView(found, stateOf(found.upstream), skipped.get(found.upstream.id) ?? [])
    }

    app.post(
      '/servers/:uuid/upstreams',
      { config, schema: { tags, params: serverParams, body: CreateUpstream, response: { 201: UpstreamView } } },
      async (request, reply) => {
        const created = await upstreams.createUpstream(actorOf(request), request.params.uuid, request.body)
        return reply.code(201).send(await viewOf(created))
      },
    )

    app.get(
      '/servers/:uuid/upstreams',
      {
        config,
        schema: { tags, params: serverParams, querystring: pageQuery, response: { 200: pageOf(UpstreamView) } },
      },
      async request => {
        const page = idPageOf(request.query)
        const found = await upstreams.listUpstreams(actorOf(request), request.params.uuid, page)
        const { items, nextCursor } = toPage(found, page.limit, last => last.upstream.id)
        return { items: await viewsOf(request.params.uuid, items), nextCursor }
      },
    )

    app.get(
      '/upstreams/:id',
      { config, schema: { tags, params: uuidParams, response: { 200: UpstreamView } } },
      async request => viewOf(await upstreams.getUpstream(actorOf(request), request.params.id)),
    )

    app.patch(
      '/upstreams/:id',
      { config, schema: { tags, params: uuidParams, body: UpdateUpstream, response: { 200: UpstreamView } } },
      async request => {
        const { id } = request.params
        const actor = actorOf(request)
        const { body } = request
        await assertUnchanged(['id', 'serverId'], body, async () => (await upstreams.getUpstream(actor, id)).upstream)
        return viewOf(await upstreams.updateUpstream(actor, id, body))
      },
    )

    app.post(
      '/upstreams/:id/refresh',
      { config, schema: { tags, params: uuidParams, response: { 200: UpstreamOfferView } } },
      async request => {
        const upstream = await upstreams.getUpstreamForUse(actorOf(request), request.params.id)
        const refreshed = await upstreamCatalogues.refresh(upstream)
        const skipped = await upstreamOffers.listSkipped(upstream.serverId)
        return toOfferView(refreshed, skipped.get(upstream.id) ?? [])
      },
    )

    app.delete(
      '/upstreams/:id',
      { config, schema: { tags, params: uuidParams, response: { 204: z.null() } } },
      async (request, reply) => {
        await upstreams.removeUpstream(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
