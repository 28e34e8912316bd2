import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import { BindingRow, CreateInstance, InstanceView, UpdateInstance } from '../../servers/servers.schema.ts'
import { toBindingRows, toBindings, toInstanceView } from '../../servers/servers.view.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'

const config = { access: 'user' } as const
const tags = ['instances']
const serverParams = z.object({ uuid: uuidParam })

export const instanceRoutes =
  ({ instances }: { instances: InstanceService }): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/servers/:uuid/instances',
      { config, schema: { tags, params: serverParams, body: CreateInstance, response: { 201: InstanceView } } },
      async (request, reply) => {
        const { bindings, ...input } = request.body
        const instance = await instances.createInstance(actorOf(request), request.params.uuid, {
          ...input,
          bindings: toBindings(bindings),
        })
        return reply.code(201).send(toInstanceView(instance))
      },
    )

    app.get(
      '/servers/:uuid/instances',
      {
        config,
        schema: { tags, params: serverParams, querystring: pageQuery, response: { 200: pageOf(InstanceView) } },
      },
      async request => {
        const page = idPageOf(request.query)
        const rows = await instances.listInstances(actorOf(request), request.params.uuid, page)
        return toIdPage(rows, page, toInstanceView)
      },
    )

    app.get(
      '/instances/:id',
      { config, schema: { tags, params: uuidParams, response: { 200: InstanceView } } },
      async request => toInstanceView(await instances.getInstance(actorOf(request), request.params.id)),
    )

    app.patch(
      '/instances/:id',
      { config, schema: { tags, params: uuidParams, body: UpdateInstance, response: { 200: InstanceView } } },
      async request => {
        const { id } = request.params
        const { bindings, ...patch } = request.body
        const actor = actorOf(request)
        await assertUnchanged(['id', 'serverId'], patch, () => instances.getInstance(actor, id))
        const changed = bindings === undefined ? patch : { ...patch, bindings: toBindings(bindings) }
        return toInstanceView(await instances.updateInstance(actor, id, changed))
      },
    )

    app.delete(
      '/instances/:id',
      { config, schema: { tags, params: uuidParams, response: { 204: z.null() } } },
      async (request, reply) => {
        await instances.removeInstance(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/servers/:uuid/bindings',
      { config, schema: { tags, params: serverParams, response: { 200: pageOf(BindingRow) } } },
      async request => {
        const all = await instances.listAllInstances(actorOf(request), request.params.uuid)
        return { items: toBindingRows(all), nextCursor: null }
      },
    )
  }
