import { z } from 'zod'
import { addressOf } from '../../lib/http/list-query.ts'
import { formLines, formText, formValues } from '../../lib/http/pages/forms.ts'
import { takePage } from '../../lib/http/pages/pager.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { WiredPanel } from '../../servers/bindings/bindings.service.ts'
import type { Global } from '../../servers/server.ts'
import { type ServerFrame, serverTabPath } from '../frame/server-frame.ts'
import { instancePath } from '../server-tools/tools.pages.ts'
import { cellKeyOf, findCells, type MatrixCell, rowKeyOf, type SourceFilter, toMatrix } from './matrix.ts'
import { toChip } from './socket.view.ts'

const TOOLS_PER_PAGE = 20
const MAX_ROWS = 200

const FILTERS: readonly { value: SourceFilter | ''; text: string }[] = [
  { value: '', text: 'Any source' },
  { value: 'fixed', text: 'Fixed value' },
  { value: 'global', text: 'Global' },
  { value: 'secret', text: 'Secret' },
  { value: 'exposed', text: 'From the model' },
  { value: 'missing', text: 'Missing global' },
]

/** Query parameters of the page. */
export type MatrixQuery = { q: string; source?: SourceFilter | undefined; page: number }

export const BindingFields = {
  row: formValues,
  cell: formValues,
  scope: formText,
  from: z.enum(['global', 'fixed', 'exposed']).catch('global'),
  global: formText,
  fixed: formLines,
}
export type BindingForm = z.output<z.ZodObject<typeof BindingFields>>

export const EMPTY_FORM: BindingForm = { row: [], cell: [], scope: 'page', from: 'global', global: '', fixed: '' }

/** Returns the URL of the same page with the query parameters in `more` added. */
export const matrixAddress = (
  serverId: string,
  { q, source, page }: MatrixQuery,
  more: Record<string, string> = {},
): string =>
  addressOf(serverTabPath(serverId, 'bindings'), { q, source, page: page === 1 ? '' : String(page), ...more })

type RowContext = { serverId: string; form: BindingForm; tools: readonly WiredPanel[] }

/** Builds a row. `cells` is keyed by tool and row. A tool without the parameter has no cell. */
const toRow = (
  { key, parameter, type }: ReturnType<typeof toMatrix>['rows'][number],
  cells: ReadonlyMap<string, MatrixCell>,
  { serverId, form, tools }: RowContext,
) => ({
  key,
  parameter,
  type,
  isSelected: form.row.includes(key),
  cells: tools.map(({ id }) => {
    const cell = cells.get(`${id} ${key}`)
    if (cell === undefined) return undefined
    const value = cellKeyOf(cell)
    const href = instancePath(serverId, id)
    return { value, href, tool: cell.tool, chip: toChip(cell), isSelected: form.cell.includes(value) }
  }),
})

const globalOptions = (globals: readonly Global[]) => [
  { value: '', text: globals.length === 0 ? 'No globals yet' : 'Choose one…' },
  ...globals.map(({ key, isSecret }) => ({ value: key, text: isSecret ? `${key} (secret)` : key })),
]

const scopeOptions = (tools: number) => [
  { value: 'page', text: 'tools on this page' },
  { value: 'all', text: `all ${formatCount(tools, 'tool')} found` },
]

/** Returns all search results, and the tools and cells on this page. */
export const searchMatrix = (panels: readonly WiredPanel[], serverId: string, { q, source, page }: MatrixQuery) => {
  const found = findCells(panels, { search: q, source })
  const all = toMatrix(panels, found)
  const path = serverTabPath(serverId, 'bindings')
  const paging = { page, perPage: TOOLS_PER_PAGE, path, query: { q, source: source ?? '' } }
  const { shown: tools, pager } = takePage(all.panels, paging)
  const ids = new Set(tools.map(({ id }) => id))
  return { found, all, tools, pager, here: found.filter(({ instanceId }) => ids.has(instanceId)) }
}

/** Builds the page from the search results and the submitted form. */
export const toMatrixPage = (
  server: ServerFrame,
  { panels, globals }: { panels: readonly WiredPanel[]; globals: readonly Global[] },
  query: MatrixQuery,
  form: BindingForm,
) => {
  const { all, tools, pager, here } = searchMatrix(panels, server.id, query)
  const { rows } = toMatrix(tools, here)
  const cells = new Map(here.map(cell => [`${cell.instanceId} ${rowKeyOf(cell)}`, cell]))
  return {
    title: `Bindings of ${server.name}`,
    server,
    path: serverTabPath(server.id, 'bindings'),
    action: matrixAddress(server.id, query),
    search: query.q,
    source: query.source ?? '',
    filters: FILTERS,
    hasTools: panels.length > 0,
    heading: `${formatCount(all.rows.length, 'parameter')} in ${formatCount(all.panels.length, 'tool')}`,
    tools: tools.map(({ id, name, sockets }) => ({
      name,
      href: instancePath(server.id, id),
      sockets: formatCount(sockets.length, 'parameter'),
    })),
    rows: rows.slice(0, MAX_ROWS).map(row => toRow(row, cells, { serverId: server.id, form, tools })),
    moreRows:
      rows.length > MAX_ROWS
        ? `${formatCount(rows.length - MAX_ROWS, 'more parameter')}. Use the search to find them.`
        : undefined,
    scopes: pager && scopeOptions(all.panels.length),
    pager,
    globals: globalOptions(globals),
    typed: form,
  }
}
