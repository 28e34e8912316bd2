import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { idOf, idRoute, userRoute } from '../frame/user-page.ts'
import { getOrganizationFrame, organizationPath } from '../organizations/organization-frame.ts'
import { type HistoryPlace, type HistoryReaders, showHistory } from './history-page.ts'

const CallParams = z.object({ id: uuidParam, callId: uuidParam })
const callRoute = { ...userRoute, schema: { params: CallParams } }

type Parts = { organizations: OrganizationService } & HistoryReaders

/** Registers `/organizations/:id/history`: the calls of an organization's servers, and the details of one call. */
export const organizationHistoryPages: FastifyPluginAsync<Parts> = async (app, { organizations, ...readers }) => {
  const { execution } = readers
  const placeOf = async (request: FastifyRequest, id: string): Promise<HistoryPlace> => {
    const actor = actorOf(request)
    const organization = await getOrganizationFrame(organizations, actor, id, 'history')
    return {
      place: { organizationId: id },
      path: organizationPath(id, 'history'),
      apiPath: `/organizations/${id}/executions`,
      mayRemove: organization.mayManage,
      name: organization.name,
      frame: { organization, live: `/organizations/${id}/live` },
      findNames: async callerIds => ({ ...(await execution.listOrganizationNames(actor, id, callerIds)), tools: [] }),
      mayRepeat: () => true,
    }
  }

  app.get('/organizations/:id/history', idRoute, async (request, reply) =>
    showHistory(reply, readers, await placeOf(request, idOf(request))),
  )

  app.get('/organizations/:id/history/:callId', callRoute, async (request, reply) => {
    const { id, callId } = CallParams.parse(request.params)
    const place = await placeOf(request, id)
    const call = await execution.getExecution(actorOf(request), callId)
    const { servers } = await place.findNames([])
    if (servers?.has(call.serverId) !== true) throw new AppError('not_found', 'Execution not found.')
    return showHistory(reply, readers, place, call)
  })
}
