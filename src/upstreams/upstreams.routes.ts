import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import {
  actorOf,
  assertUnchanged,
  idPageOf,
  pageOf,
  pageQuery,
  toPage,
  uuidParam,
  uuidParams,
} from '../platform/http/index.ts'
import type { UpstreamCatalogues } from './catalogue/index.ts'
import type { Upstream, UpstreamState } from './upstream.ts'
import { CreateUpstream, UpdateUpstream, UpstreamOfferView, UpstreamView } from './upstreams.schema.ts'
import type { UpstreamService, UpstreamWithGlobals } from './upstreams.service.ts'
import { toOfferView, toUpstreamView } from './upstreams.view.ts'

const config = { access: 'user' } as const
const tags = ['upstreams']
const serverParams = z.object({ uuid: uuidParam })

type Parts = {
  upstreams: UpstreamService
  upstreamCatalogues: Pick<UpstreamCatalogues, 'refresh'>
  /** How its connection is, in this process. */
  stateOf: (upstream: Upstream) => UpstreamState
}

export const upstreamRoutes =
  ({ upstreams, upstreamCatalogues, stateOf }: Parts): FastifyPluginAsyncZod =>
  async app => {
    const viewOf = (found: UpstreamWithGlobals) => toUpstreamView(found, stateOf(found.upstream))

    app.post(
      '/servers/:uuid/upstreams',
      { config, schema: { tags, params: serverParams, body: CreateUpstream, response: { 201: UpstreamView } } },
      async (request, reply) => {
        const made = await upstreams.createUpstream(actorOf(request), request.params.uuid, request.body)
        return reply.code(201).send(viewOf(made))
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
        return { items: items.map(viewOf), nextCursor }
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
        return toOfferView(await upstreamCatalogues.refresh(upstream))
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
