import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { assertTypedName } from '../../lib/http/pages/typed-name.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Instance } from '../../servers/server.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { frameForChange, redirectDone, TAB_CONFIG } from '../frame/server-tab.ts'
import { instancePath } from './tools.pages.ts'

export const instanceParams = z.object({ uuid: uuidParam, instanceId: uuidParam })
const schema = { params: instanceParams }
const config = TAB_CONFIG
const RemovalForm = { sure: formText }

/** Returns the instance in the request's path. Throws `not_found` if it belongs to another server. */
export const instanceOf = async (
  instances: InstanceService,
  request: FastifyRequest,
  server: ServerFrame,
): Promise<Instance> => {
  const instance = await instances.getInstance(actorOf(request), instanceParams.parse(request.params).instanceId)
  if (instance.serverId === server.id) return instance
  throw new AppError('not_found', 'This server has no such tool.')
}

/** Serves the page that removes a tool from a server. */
export const instanceRemovalPages =
  ({ frames, instances }: { frames: ServerFrameParts; instances: InstanceService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const removalPage = (server: ServerFrame, instance: Instance, typed: string): FormPage => ({
      view: 'settings/removal',
      data: {
        title: `Remove ${instance.name}`,
        server,
        question: `Remove ${instance.name}?`,
        consequence: `Clients of ${server.name} can no longer call it. Its bindings are deleted. The tool stays in its toolkit, and its calls stay in the history.`,
        blocks: [],
        action: `${instancePath(server.id, instance.id)}/remove`,
        back: instancePath(server.id, instance.id),
        name: instance.name,
        button: 'Remove tool',
        typed,
      },
      labels: { sure: 'name' },
    })

    app.get('/servers/:uuid/tools/:instanceId/remove', { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'tools')
      return showForm(reply, removalPage(server, await instanceOf(instances, request, server), ''))
    })

    app.post('/servers/:uuid/tools/:instanceId/remove', { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'tools')
      const instance = await instanceOf(instances, request, server)
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, removalPage(server, instance, sure), async () => {
        assertTypedName(sure, instance.name)
        await instances.removeInstance(actorOf(request), instance.id)
        return redirectDone(reply, serverTabPath(server.id, 'tools'), 'removed')
      })
    })
  }
