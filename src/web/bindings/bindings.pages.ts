import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { formPage } from '../../lib/http/pages/forms.ts'
import { pageNumber } from '../../lib/http/pages/pager.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { WantedBinding } from '../../servers/bindings/binding-checks.ts'
import type { RewiringService, SocketAddress } from '../../servers/bindings/bindings.service.ts'
import { SOCKET_SOURCES } from '../../servers/bindings/sockets.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { ServerFrame, ServerFrameParts } from '../frame/server-frame.ts'
import { createServerTab, type DoneTexts, doneNote, serverRoute } from '../frame/server-tab.ts'
import { selectedSockets } from './matrix.ts'
import {
  BindingFields,
  type BindingForm,
  EMPTY_FORM,
  matrixAddress,
  searchMatrix,
  toMatrixPage,
} from './matrix.view.ts'
import { toShortError } from './socket.view.ts'

const MAX_ERRORS = 20

const Query = listQuery.extend({
  page: pageNumber,
  source: z
    .enum([...SOCKET_SOURCES, 'missing'])
    .optional()
    .catch(undefined),
})

const DONE: DoneTexts = { wired: count => `${formatCount(count, 'parameter')} bound` }

const toWantedBinding = ({ from, global, fixed }: BindingForm): WantedBinding => {
  switch (from) {
    case 'exposed':
      return { source: 'exposed' }
    case 'fixed':
      return { source: 'fixed', text: fixed }
    case 'global':
      if (global === '') throw new AppError('invalid_request', 'Choose a global.')
      return { source: 'global', key: global }
  }
}

const describeErrors = (errors: AppError['errors'] = []) => ({
  errorList: errors.slice(0, MAX_ERRORS).map(({ path, message: text }) => ({ where: path, text: toShortError(text) })),
  moreErrors: errors.length > MAX_ERRORS ? `and ${formatCount(errors.length - MAX_ERRORS, 'more error')}` : undefined,
})

type Parts = { frames: ServerFrameParts; rewiring: RewiringService; globals: GlobalService }

/** Serves the Bindings tab: a matrix of parameters and tools in which users can set many bindings at once. */
export const bindingsPages: FastifyPluginAsync<Parts> = async (app, { frames, rewiring, globals }) => {
  const matrixFor = async (request: FastifyRequest, server: ServerFrame, selected: BindingForm) => {
    const actor = actorOf(request)
    const [panels, all] = await Promise.all([
      rewiring.listPanels(actor, server.id),
      globals.listAllGlobals(actor, server.id),
    ])
    return toMatrixPage(server, { panels, globals: all }, Query.parse(request.query), selected)
  }

  /**
   * Returns the selected sockets. A selected row covers the tools on the page or, with the `all` scope, every tool in
   * the search results.
   */
  const readSelection = async (
    request: FastifyRequest,
    server: ServerFrame,
    form: BindingForm,
  ): Promise<SocketAddress[]> => {
    const panels = await rewiring.listPanels(actorOf(request), server.id)
    const { found, here } = searchMatrix(panels, server.id, Query.parse(request.query))
    const inScope = form.scope === 'all' ? found : here
    const sockets = selectedSockets(inScope, { rows: new Set(form.row), cells: form.cell })
    if (sockets.length > 0) return sockets
    throw new AppError('invalid_request', 'Nothing is selected. Select rows or cells first.')
  }

  formPage(app, '/servers/:uuid/bindings', {
    ...serverRoute,
    fields: BindingFields,
    load: createServerTab(frames, 'bindings').frameOf,
    page: async (request, server, typed, error) => ({
      view: 'bindings/bindings',
      data: {
        ...(await matrixFor(request, server, typed ?? EMPTY_FORM)),
        ...describeErrors(error?.errors),
        done: doneNote(request, server, DONE),
      },
    }),
    save: async (request, server, form) => {
      const selected = { sockets: await readSelection(request, server, form), wanted: toWantedBinding(form) }
      const { sockets } = await rewiring.bindMany(actorOf(request), server.id, selected)
      return matrixAddress(server.id, Query.parse(request.query), { done: 'wired', count: String(sockets) })
    },
  })
}
