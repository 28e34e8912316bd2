import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { serverTabPath } from '../frame/server-frame.ts'

const Params = z.object({ uuid: uuidParam })
const TablesForm = { tables: formText }

/** Saves whether a server sends lists of similar objects as tables. */
export const tableSettingsPages =
  ({ servers }: { servers: ServerService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const options = { config: { access: 'user' }, schema: { params: Params } } as const
    app.post('/servers/:uuid/settings/tables', options, async (request, reply) => {
      const { tables } = parseForm(TablesForm, request.body)
      const { uuid } = Params.parse(request.params)
      const actor = actorOf(request)
      assertMay(actor, (await servers.getServer(actor, uuid)).organizationId, 'build')
      const compactTables = tables === 'on'
      await servers.updateServer(actor, uuid, { compactTables })
      return reply.redirect(`${serverTabPath(uuid, 'settings')}?done=${compactTables ? 'tabled' : 'untabled'}`, 303)
    })
  }
