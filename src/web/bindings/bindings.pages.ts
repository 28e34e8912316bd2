import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { formatCount } from '../../lib/http/pages/format.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { pageNumber, takePage } from '../../lib/http/pages/pager.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { WantedBinding } from '../../servers/bindings/binding-checks.ts'
import type { RewiringService, SocketAddress } from '../../servers/bindings/rewiring.service.ts'
import { SOCKET_SOURCES } from '../../servers/bindings/sockets.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { ServerFrame, ServerFrameParts } from '../frame/server-frame.ts'
import { type DoneTexts, doneNote, frameForChange, frameOf, serverSchema, TAB_CONFIG } from '../frame/server-tab.ts'
import { findCells, pickedSockets, toMatrix } from './matrix.ts'
import { type Bulk, matrixAddress, NOTHING_PICKED, TOOLS_PER_PAGE, toMatrixPage } from './matrix.view.ts'
import { faultInWords } from './socket.view.ts'

const config = TAB_CONFIG
/** Errors shown of one change: who reads these knows what is wrong with the rest. */
const MAX_ERRORS = 20

const Query = listQuery.extend({
  page: pageNumber,
  source: z
    .enum([...SOCKET_SOURCES, 'missing'])
    .optional()
    .catch(undefined),
})

/** Of checkboxes: none, one or many. */
const texts = z.union([z.array(z.string()), z.string().transform(one => [one])]).catch([])
const BulkForm = z.object({
  row: texts,
  cell: texts,
  scope: formText,
  from: z.enum(['global', 'fixed', 'exposed']).catch('global'),
  global: formText,
  fixed: formText,
})

const DONE: DoneTexts = { wired: count => `${formatCount(count, 'socket')} wired` }

const wantedOf = ({ from, global, fixed }: Bulk): WantedBinding => {
  switch (from) {
    case 'exposed':
      return { source: 'exposed' }
    case 'fixed':
      return { source: 'fixed', text: fixed.replaceAll('\r\n', '\n') }
    case 'global':
      if (global === '') throw new AppError('invalid_request', 'Choose the global that the value is taken from.')
      return { source: 'global', key: global }
  }
}

/** What was refused, by tool and parameter. */
const describeRefusal = ({ message, errors = [] }: AppError) => ({
  problem: message,
  faults: errors.slice(0, MAX_ERRORS).map(({ path, message: text }) => ({ where: path, text: faultInWords(text) })),
  moreFaults: errors.length > MAX_ERRORS ? `and ${formatCount(errors.length - MAX_ERRORS, 'more fault')}` : undefined,
})

type Parts = { frames: ServerFrameParts; rewiring: RewiringService; globals: GlobalService }

/** Where all parameters of all tools get their values: the matrix, and the wiring of many at once. */
export const bindingsPages =
  ({ frames, rewiring, globals }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const matrixFor = async (request: FastifyRequest, server: ServerFrame, picked: Bulk) => {
      const actor = actorOf(request)
      const [panels, all] = await Promise.all([
        rewiring.listPanels(actor, server.id),
        globals.listAllGlobals(actor, server.id),
      ])
      return toMatrixPage(server, { panels, globals: all }, Query.parse(request.query), picked)
    }

    app.get('/servers/:uuid/bindings', { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'bindings')
      const page = await matrixFor(request, server, NOTHING_PICKED)
      return reply.page('bindings/bindings', { ...page, done: doneNote(request, server, DONE), faults: [] })
    })

    /** The sockets that a form has picked: rows are those of what its page shows, or of all that its search finds. */
    const readPicked = async (request: FastifyRequest, server: ServerFrame, bulk: Bulk): Promise<SocketAddress[]> => {
      const { q, source, page } = Query.parse(request.query)
      const panels = await rewiring.listPanels(actorOf(request), server.id)
      const found = findCells(panels, { search: q, source })
      const all = toMatrix(panels, found).panels
      const { shown } = takePage(all, { page, perPage: TOOLS_PER_PAGE, path: '', query: {} })
      const ids = new Set((bulk.scope === 'all' ? all : shown).map(({ id }) => id))
      const inScope = found.filter(({ instanceId }) => ids.has(instanceId))
      const sockets = pickedSockets(inScope, { rows: new Set(bulk.row), cells: bulk.cell })
      if (sockets.length > 0) return sockets
      throw new AppError('invalid_request', 'Nothing is picked: check a row, or single sockets in it.')
    }

    app.post('/servers/:uuid/bindings', { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'bindings')
      const bulk = BulkForm.parse(request.body ?? {})
      try {
        const picked = { sockets: await readPicked(request, server, bulk), wanted: wantedOf(bulk) }
        const { sockets } = await rewiring.bindMany(actorOf(request), server.id, picked)
        const done = { done: 'wired', count: String(sockets) }
        return reply.redirect(matrixAddress(server.id, Query.parse(request.query), done), 303)
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'internal') throw error
        const page = await matrixFor(request, server, bulk)
        return reply.page('bindings/bindings', { ...page, ...describeRefusal(error) }, { status: error.status })
      }
    })
  }
