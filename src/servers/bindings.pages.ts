import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../kernel/index.ts'
import { actorOf, addressOf, formatCount, formText, listQuery } from '../platform/http/index.ts'
import type { WantedBinding } from './binding-checks.ts'
import type { GlobalService } from './globals.service.ts'
import {
  cellKeyOf,
  findCells,
  type MatrixCell,
  type MatrixRow,
  pickedSockets,
  rowKeyOf,
  type SourceFilter,
  toMatrix,
} from './matrix.ts'
import type { RewiringService, WiredPanel } from './rewiring.service.ts'
import type { Global } from './server.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from './server-frame.ts'
import {
  type DoneTexts,
  doneNote,
  frameForChange,
  frameOf,
  pageNumber,
  serverSchema,
  TAB_CONFIG,
  takePage,
} from './server-tab.ts'
import { faultInWords, toChip } from './socket.view.ts'
import { SOCKET_SOURCES } from './sockets.ts'
import { instancePath } from './tools.pages.ts'

const config = TAB_CONFIG
/** Tools side by side; more are on further pages. */
const TOOLS_PER_PAGE = 20
/** Parameters one below the other: more are found by searching. */
const MAX_ROWS = 200
/** Errors shown of one change: who reads these knows what is wrong with the rest. */
const MAX_ERRORS = 20

const FILTERS: readonly { value: SourceFilter | ''; text: string }[] = [
  { value: '', text: 'Any source' },
  { value: 'fixed', text: 'Fixed value' },
  { value: 'global', text: 'Global' },
  { value: 'secret', text: 'Secret' },
  { value: 'exposed', text: 'Exposed to the model' },
  { value: 'missing', text: 'No such global' },
]
const Query = listQuery.extend({
  page: pageNumber,
  source: z
    .enum([...SOCKET_SOURCES, 'missing'])
    .optional()
    .catch(undefined),
})

const texts = z.union([z.array(z.string()), z.string().transform(one => [one])]).catch([])
const BulkForm = z.object({
  row: texts,
  cell: texts,
  scope: formText,
  from: z.enum(['global', 'fixed', 'exposed']).catch('global'),
  global: formText,
  fixed: formText,
})
type Bulk = z.infer<typeof BulkForm>

const NOTHING: Bulk = { row: [], cell: [], scope: 'page', from: 'global', global: '', fixed: '' }

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

type Parts = { frames: ServerFrameParts; rewiring: RewiringService; globals: GlobalService }

const toRow = (
  { key, parameter, type }: MatrixRow,
  shown: readonly WiredPanel[],
  cells: ReadonlyMap<string, MatrixCell>,
  { serverId, picked }: { serverId: string; picked: Bulk },
) => ({
  key,
  parameter,
  type,
  isPicked: picked.row.includes(key),
  cells: shown.map(({ id }) => {
    const cell = cells.get(`${id} ${key}`)
    if (cell === undefined) return undefined
    const value = cellKeyOf(cell)
    return {
      value,
      tool: cell.tool,
      chip: toChip(cell),
      href: instancePath(serverId, id),
      isPicked: picked.cell.includes(value),
    }
  }),
})

const globalOptions = (globals: readonly Global[]) => [
  { value: '', text: globals.length === 0 ? 'No global yet' : 'Choose one…' },
  ...globals.map(({ key, isSecret }) => ({ value: key, text: isSecret ? `${key}, secret` : key })),
]

/** Where all parameters of all tools get their values: the matrix, and the wiring of many at once. */
export const bindingsPages =
  ({ frames, rewiring, globals }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    type Told = {
      problem?: string | undefined
      errors?: readonly { where: string; text: string }[]
      moreErrors?: string | undefined
    }

    const toBindingsPage = async (request: FastifyRequest, server: ServerFrame, picked: Bulk, told: Told) => {
      const actor = actorOf(request)
      const { q, source, page } = Query.parse(request.query)
      const [panels, known] = await Promise.all([
        rewiring.listPanels(actor, server.id),
        globals.listAllGlobals(actor, server.id),
      ])
      const found = findCells(panels, { search: q, source })
      const path = serverTabPath(server.id, 'bindings')
      const query = { q, source: source ?? '' }
      const all = toMatrix(panels, found)
      const { shown, pager } = takePage(all.panels, { page, perPage: TOOLS_PER_PAGE, path, query })
      const ids = new Set(shown.map(({ id }) => id))
      const matrix = toMatrix(
        shown,
        found.filter(({ instanceId }) => ids.has(instanceId)),
      )
      const cells = new Map(matrix.cells.map(cell => [`${cell.instanceId} ${rowKeyOf(cell)}`, cell]))
      const rows = matrix.rows.slice(0, MAX_ROWS)
      return {
        title: `Bindings of ${server.name}`,
        server,
        scripts: ['matrix'],
        path,
        action: addressOf(path, { ...query, page: page === 1 ? '' : String(page) }),
        search: q,
        source: source ?? '',
        filters: FILTERS,
        isSearched: q !== '' || source !== undefined,
        hasTools: panels.length > 0,
        heading: `${formatCount(all.rows.length, 'parameter')} in ${formatCount(all.panels.length, 'tool')}`,
        tools: shown.map(({ id, name, sockets }) => ({
          name,
          href: instancePath(server.id, id),
          sockets: formatCount(sockets.length, 'socket'),
        })),
        rows: rows.map(row => toRow(row, shown, cells, { serverId: server.id, picked })),
        moreRows:
          matrix.rows.length > MAX_ROWS
            ? `${formatCount(matrix.rows.length - MAX_ROWS, 'parameter')} more: search for them.`
            : undefined,
        scopes: pager && [
          { value: 'page', text: 'the tools on this page' },
          { value: 'all', text: `all ${formatCount(all.panels.length, 'tool')} found` },
        ],
        pager,
        globals: globalOptions(known),
        typed: { from: picked.from, global: picked.global, fixed: picked.fixed, scope: picked.scope },
        done: doneNote(request, server, DONE),
        problem: told.problem,
        faults: told.errors ?? [],
        moreFaults: told.moreErrors,
      }
    }

    app.get('/servers/:uuid/bindings', { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'bindings')
      return reply.page('servers/bindings', await toBindingsPage(request, server, NOTHING, {}))
    })

    /** The sockets that a form has picked: rows are those of what its page shows, or of all that its search finds. */
    const readPicked = async (request: FastifyRequest, server: ServerFrame, bulk: Bulk) => {
      const { q, source, page } = Query.parse(request.query)
      const panels = await rewiring.listPanels(actorOf(request), server.id)
      const found = findCells(panels, { search: q, source })
      const all = toMatrix(panels, found).panels
      const { shown } = takePage(all, { page, perPage: TOOLS_PER_PAGE, path: '', query: {} })
      const ids = new Set((bulk.scope === 'all' ? all : shown).map(({ id }) => id))
      const inScope = found.filter(({ instanceId }) => ids.has(instanceId))
      const sockets = pickedSockets(inScope, { rows: new Set(bulk.row), cells: bulk.cell })
      if (sockets.length === 0)
        throw new AppError('invalid_request', 'Nothing is picked: check a row, or single sockets in it.')
      return sockets
    }

    app.post('/servers/:uuid/bindings', { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'bindings')
      const bulk = BulkForm.parse(request.body ?? {})
      try {
        const sockets = await readPicked(request, server, bulk)
        const done = await rewiring.bindMany(actorOf(request), server.id, { sockets, wanted: wantedOf(bulk) })
        const { q, source, page } = Query.parse(request.query)
        const path = serverTabPath(server.id, 'bindings')
        const address = addressOf(path, {
          q,
          source,
          page: page === 1 ? '' : String(page),
          done: 'wired',
          count: String(done.sockets),
        })
        return reply.redirect(address, 303)
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'internal') throw error
        const errors = (error.errors ?? []).map(({ path, message }) => ({ where: path, text: faultInWords(message) }))
        const told: Told = {
          problem: error.message,
          errors: errors.slice(0, MAX_ERRORS),
          moreErrors:
            errors.length > MAX_ERRORS ? `and ${formatCount(errors.length - MAX_ERRORS, 'more fault')}` : undefined,
        }
        return reply.page('servers/bindings', await toBindingsPage(request, server, bulk, told), {
          status: error.status,
        })
      }
    })
  }
