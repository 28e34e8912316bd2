import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { pageOf } from '../../lib/http/paging.ts'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { serverParams, uuidParams } from '../../lib/http/schemas.ts'
import { toBindings } from '../../servers/bindings/bindings.ts'
import type { Instance } from '../../servers/server.ts'
import { BindingRow, CreateInstance, InstanceView, UpdateInstance } from '../../servers/servers.schema.ts'
import { toBindingRows, toInstanceView } from '../../servers/servers.view.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'

const params = uuidParams
const instanceView = { schema: InstanceView, toView: toInstanceView }
const bindingsView = {
  schema: pageOf(BindingRow),
  toView: (instances: readonly Instance[]) => ({ items: toBindingRows(instances), nextCursor: null }),
}

export const instanceRoutes: FastifyPluginAsyncZod<{ instances: InstanceService }> = async (app, { instances }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['instances'] })

  routes.create(
    '/servers/:uuid/instances',
    { params: serverParams, body: CreateInstance },
    instanceView,
    ({ actor, params, body }) =>
      instances.createInstance(actor, params.uuid, { ...body, bindings: toBindings(body.bindings) }),
  )
  routes.list('/servers/:uuid/instances', { params: serverParams }, instanceView, ({ actor, params, page }) =>
    instances.listInstances(actor, params.uuid, page),
  )
  routes.get('/instances/:id', { params }, instanceView, ({ actor, params }) => instances.getInstance(actor, params.id))
  routes.update(
    '/instances/:id',
    { params, body: UpdateInstance },
    instanceView,
    async ({ actor, params: { id }, body: { bindings, ...patch } }) => {
      await assertUnchanged(['id', 'serverId'], patch, () => instances.getInstance(actor, id))
      const changed = bindings === undefined ? patch : { ...patch, bindings: toBindings(bindings) }
      return instances.updateInstance(actor, id, changed)
    },
  )
  routes.remove('/instances/:id', { params }, ({ actor, params }) => instances.removeInstance(actor, params.id))

  routes.get('/servers/:uuid/bindings', { params: serverParams }, bindingsView, ({ actor, params }) =>
    instances.listAllInstances(actor, params.uuid),
  )
}
