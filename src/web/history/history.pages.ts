import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, serverRoute } from '../frame/server-tab.ts'
import { type HistoryPlace, type HistoryReaders, showHistory } from './history-page.ts'

const CallParams = z.object({ uuid: uuidParam, id: uuidParam })

export type HistoryPagesParts = { frames: ServerFrameParts } & HistoryReaders

/** Registers `/servers/:uuid/history`: the calls of a server, and beside them the details of one call. */
export const historyPages: FastifyPluginAsync<HistoryPagesParts> = async (app, { frames, ...readers }) => {
  const { execution } = readers
  const { frameOf } = createServerTab(frames, 'history')

  const placeOf = async (request: FastifyRequest): Promise<HistoryPlace> => {
    const server = await frameOf(request)
    return {
      place: { serverId: server.id },
      path: serverTabPath(server.id, 'history'),
      apiPath: `/servers/${server.id}/executions`,
      mayRemove: server.mayManage,
      name: server.name,
      frame: { server },
      findNames: async ids => {
        const { tools, names } = await execution.listNames(actorOf(request), server.id, ids)
        return { tools, callers: names }
      },
      mayRepeat: () => !server.passesOn,
    }
  }

  app.get('/servers/:uuid/history', serverRoute, async (request, reply) =>
    showHistory(reply, readers, await placeOf(request)),
  )

  app.get('/servers/:uuid/history/:id', { ...serverRoute, schema: { params: CallParams } }, async (request, reply) => {
    const { uuid, id } = CallParams.parse(request.params)
    const place = await placeOf(request)
    const call = await execution.getExecution(actorOf(request), id)
    if (call.serverId !== uuid) throw new AppError('not_found', 'Execution not found.')
    return showHistory(reply, readers, place, call)
  })
}
