import type { FastifyPluginAsync } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { RewiringService } from '../../servers/bindings/bindings.service.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { NOTHING_SELECTED, nameOfTools, selectedIds } from '../frame/selected-tools.ts'
import { type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, donePath, serverRoute } from '../frame/server-tab.ts'
import { createToolUndo, toRemovedTool } from './removed-tools.ts'

type Parts = {
  frames: ServerFrameParts
  rewiring: Pick<RewiringService, 'listInstancesById'>
  instances: Pick<InstanceService, 'removeInstances'>
  sealing: Sealing
}

/** Registers the page that removes the selected tools from a server: `?tool=<instance id>&tool=<instance id>`. */
export const toolRemovalPages: FastifyPluginAsync<Parts> = async (app, { frames, rewiring, instances, sealing }) => {
  const tab = createServerTab(frames, 'tools')
  const undo = createToolUndo(sealing)

  removalPage(app, '/servers/:uuid/tools/removal', {
    ...serverRoute,
    button: 'Remove tools',
    load: async request => {
      const server = await tab.frameForChange(request)
      const found = await rewiring.listInstancesById(actorOf(request), server.id, selectedIds(request))
      return { server, tools: found }
    },
    nameOf: ({ tools }) => nameOfTools(tools),
    typedNameOf: ({ server }) => server.name,
    page: (request, { server, tools }) => {
      const back = serverTabPath(server.id, 'tools')
      if (tools.length === 0) return { server, text: NOTHING_SELECTED, isBlocked: true, back }
      const undoText = undo.describe(request, { path: back }, tools.map(toRemovedTool))
      return {
        server,
        text: `Clients of ${server.name} can no longer call them. Their bindings are deleted. The tools stay in their toolkits, and their calls stay in the history. ${undoText} To confirm, type the server’s name.`,
        items: tools.map(({ name }) => ({ text: name })),
        back,
      }
    },
    remove: async (request, { server, tools }, reply) => {
      if (tools.length === 0) throw new AppError('invalid_request', NOTHING_SELECTED)
      const ids = tools.map(({ id }) => id)
      await instances.removeInstances(actorOf(request), server.id, ids)
      const path = serverTabPath(server.id, 'tools')
      undo.keep(request, reply, { path }, tools.map(toRemovedTool))
      return donePath(path, 'removed', ids.length)
    },
  })
}
