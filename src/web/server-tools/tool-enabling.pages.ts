import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { NOTHING_SELECTED, postedIds } from '../frame/selected-tools.ts'
import { type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, serverRoute } from '../frame/server-tab.ts'

type Parts = { frames: ServerFrameParts; instances: Pick<InstanceService, 'enableInstances'> }

/** What the Tools tab showed when the form was sent. */
const Shown = z.object({ q: formText, sort: formText, level: formText, page: formText })

/** Registers the addresses that enable and disable the selected tools of a server, from its Tools tab. */
export const toolEnablingPages: FastifyPluginAsync<Parts> = async (app, { frames, instances }) => {
  const tab = createServerTab(frames, 'tools')

  for (const [action, isEnabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    app.post(`/servers/:uuid/tools/${action}`, serverRoute, async (request, reply) => {
      const { id } = await tab.frameForChange(request)
      const ids = postedIds(request)
      if (ids.length === 0) throw new AppError('invalid_request', NOTHING_SELECTED)
      await instances.enableInstances(actorOf(request), id, { ids, isEnabled })
      const done = { done: `${action}d`, count: String(ids.length) }
      return reply.redirect(addressOf(serverTabPath(id, 'tools'), { ...Shown.parse(request.query), ...done }), 303)
    })
  }
}
