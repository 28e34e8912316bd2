import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { formatCount } from '../../lib/http/pages/format.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { pageNumber, takePage } from '../../lib/http/pages/pager.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { WantedBinding } from '../../servers/bindings/binding-checks.ts'
import type { RewiringService, SocketAddress } from '../../servers/bindings/bindings.service.ts'
import { SOCKET_SOURCES } from '../../servers/bindings/sockets.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { ServerFrame, ServerFrameParts } from '../frame/server-frame.ts'
import { type DoneTexts, doneNote, frameForChange, frameOf, serverSchema, TAB_CONFIG } from '../frame/server-tab.ts'
import { findCells, selectedSockets, toMatrix } from './matrix.ts'
import { type BindingForm, EMPTY_FORM, matrixAddress, TOOLS_PER_PAGE, toMatrixPage } from './matrix.view.ts'
import { toShortError } from './socket.view.ts'

const config = TAB_CONFIG
const MAX_ERRORS = 20

const Query = listQuery.extend({
  page: pageNumber,
  source: z
    .enum([...SOCKET_SOURCES, 'missing'])
    .optional()
    .catch(undefined),
})

/** Values of checkboxes with one name: none, one or several. */
const checkedValues = z.union([z.array(z.string()), z.string().transform(one => [one])]).catch([])
const BindingFormSchema = z.object({
  row: checkedValues,
  cell: checkedValues,
  scope: formText,
  from: z.enum(['global', 'fixed', 'exposed']).catch('global'),
  global: formText,
  fixed: formText,
})

const DONE: DoneTexts = { wired: count => `${formatCount(count, 'parameter')} bound` }

const toWantedBinding = ({ from, global, fixed }: BindingForm): WantedBinding => {
  switch (from) {
    case 'exposed':
      return { source: 'exposed' }
    case 'fixed':
      return { source: 'fixed', text: fixed.replaceAll('\r\n', '\n') }
    case 'global':
      if (global === '') throw new AppError('invalid_request', 'Choose a global.')
      return { source: 'global', key: global }
  }
}

const describeErrors = ({ message, errors = [] }: AppError) => ({
  problem: message,
  errorList: errors.slice(0, MAX_ERRORS).map(({ path, message: text }) => ({ where: path, text: toShortError(text) })),
  moreErrors: errors.length > MAX_ERRORS ? `and ${formatCount(errors.length - MAX_ERRORS, 'more error')}` : undefined,
})

type Parts = { frames: ServerFrameParts; rewiring: RewiringService; globals: GlobalService }

/** Serves the Bindings tab: a matrix of parameters and tools, in which many can be bound at once. */
export const bindingsPages =
  ({ frames, rewiring, globals }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const matrixFor = async (request: FastifyRequest, server: ServerFrame, selected: BindingForm) => {
      const actor = actorOf(request)
      const [panels, all] = await Promise.all([
        rewiring.listPanels(actor, server.id),
        globals.listAllGlobals(actor, server.id),
      ])
      return toMatrixPage(server, { panels, globals: all }, Query.parse(request.query), selected)
    }

    app.get('/servers/:uuid/bindings', { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'bindings')
      const page = await matrixFor(request, server, EMPTY_FORM)
      return reply.page('bindings/bindings', { ...page, done: doneNote(request, server, DONE), errorList: [] })
    })

    /** Returns the selected sockets. A row covers the tools on the page, or all that the search finds. */
    const readSelection = async (
      request: FastifyRequest,
      server: ServerFrame,
      form: BindingForm,
    ): Promise<SocketAddress[]> => {
      const { q, source, page } = Query.parse(request.query)
      const panels = await rewiring.listPanels(actorOf(request), server.id)
      const found = findCells(panels, { search: q, source })
      const all = toMatrix(panels, found).panels
      const { shown } = takePage(all, { page, perPage: TOOLS_PER_PAGE, path: '', query: {} })
      const ids = new Set((form.scope === 'all' ? all : shown).map(({ id }) => id))
      const inScope = found.filter(({ instanceId }) => ids.has(instanceId))
      const sockets = selectedSockets(inScope, { rows: new Set(form.row), cells: form.cell })
      if (sockets.length > 0) return sockets
      throw new AppError('invalid_request', 'Nothing is selected. Select rows or cells first.')
    }

    app.post('/servers/:uuid/bindings', { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'bindings')
      const form = BindingFormSchema.parse(request.body ?? {})
      try {
        const selected = { sockets: await readSelection(request, server, form), wanted: toWantedBinding(form) }
        const { sockets } = await rewiring.bindMany(actorOf(request), server.id, selected)
        const done = { done: 'wired', count: String(sockets) }
        return reply.redirect(matrixAddress(server.id, Query.parse(request.query), done), 303)
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'internal') throw error
        const page = await matrixFor(request, server, form)
        return reply.page('bindings/bindings', { ...page, ...describeErrors(error) }, { status: error.status })
      }
    })
  }
