import type { FastifyPluginAsync } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { RewiringService } from '../../servers/bindings/bindings.service.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { NOTHING_SELECTED, nameOfTools, selectedIds } from '../frame/selected-tools.ts'
import { type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, donePath, serverRoute } from '../frame/server-tab.ts'

type Parts = {
  frames: ServerFrameParts
  rewiring: Pick<RewiringService, 'listInstancesById'>
  instances: Pick<InstanceService, 'removeInstances'>
}

/** Registers the page that removes the selected tools from a server: `?tool=<instance id>&tool=<instance id>`. */
export const toolRemovalPages: FastifyPluginAsync<Parts> = async (app, { frames, rewiring, instances }) => {
  const tab = createServerTab(frames, 'tools')

  removalPage(app, '/servers/:uuid/tools/removal', {
    ...serverRoute,
    button: 'Remove tools',
    load: async request => {
      const server = await tab.frameForChange(request)
      const found = await rewiring.listInstancesById(actorOf(request), server.id, selectedIds(request))
      return { server, tools: found.map(({ id, name }) => ({ id, name })) }
    },
    nameOf: ({ tools }) => nameOfTools(tools),
    typedNameOf: ({ server }) => server.name,
    page: (_request, { server, tools }) => {
      const back = serverTabPath(server.id, 'tools')
      if (tools.length === 0) return { server, text: NOTHING_SELECTED, isBlocked: true, back }
      return {
        server,
        text: `Clients of ${server.name} can no longer call them. Their bindings are deleted. The tools stay in their toolkits, and their calls stay in the history. To confirm, type the server’s name.`,
        items: tools.map(({ name }) => ({ text: name })),
        back,
      }
    },
    remove: async (request, { server, tools }) => {
      if (tools.length === 0) throw new AppError('invalid_request', NOTHING_SELECTED)
      const ids = tools.map(({ id }) => id)
      await instances.removeInstances(actorOf(request), server.id, ids)
      return donePath(serverTabPath(server.id, 'tools'), 'removed', ids.length)
    },
  })
}
