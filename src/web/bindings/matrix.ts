import type { SocketAddress, WiredPanel } from '../../servers/bindings/bindings.service.ts'
import type { Socket, SocketSource } from '../../servers/bindings/sockets.ts'

/** `missing` matches parameters bound to a global that does not exist. */
export type SourceFilter = SocketSource | 'missing'

export type MatrixCell = Socket & SocketAddress & { tool: string }

export const rowKeyOf = ({ parameter, type }: Pick<Socket, 'parameter' | 'type'>): string => `${type}:${parameter}`

const isOfSource = ({ source, missing }: Socket, wanted: SourceFilter | undefined): boolean =>
  wanted === undefined || (wanted === 'missing' ? missing.length > 0 : source === wanted)

/** Searches the names of the parameter and the tool, and the value or global. */
const matches = ({ parameter, text, tool }: MatrixCell, wanted: string): boolean =>
  wanted === '' || [parameter, text, tool].some(one => one.toLowerCase().includes(wanted))

export const findCells = (
  panels: readonly WiredPanel[],
  { search, source }: { search: string; source: SourceFilter | undefined },
): MatrixCell[] => {
  const wanted = search.toLowerCase()
  return panels.flatMap(({ id, name, sockets }) =>
    sockets
      .map(socket => ({ ...socket, instanceId: id, tool: name }))
      .filter(cell => isOfSource(cell, source) && matches(cell, wanted)),
  )
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Builds a matrix from these cells and the tools that have any. A row stands for a parameter name and type, which
 * several tools can share. The most common rows come first.
 */
export const toMatrix = (panels: readonly WiredPanel[], cells: readonly MatrixCell[]) => {
  const byRow = Map.groupBy(cells, rowKeyOf)
  const rows = [...byRow]
    .flatMap(([key, [first, ...others]]) =>
      first === undefined ? [] : [{ key, parameter: first.parameter, type: first.type, count: others.length + 1 }],
    )
    .sort((a, b) => b.count - a.count || compareTexts(a.parameter, b.parameter) || compareTexts(a.type, b.type))
  const withCells = new Set(cells.map(({ instanceId }) => instanceId))
  return { rows, panels: panels.filter(({ id }) => withCells.has(id)) }
}

const CELL_KEY = /^([0-9a-f-]{36}):(.+)$/s
export const cellKeyOf = ({ instanceId, parameter }: SocketAddress): string => `${instanceId}:${parameter}`

/** Returns the sockets of the selected cells, and those of all `cells` in the selected rows. */
export const selectedSockets = (
  cells: readonly MatrixCell[],
  selected: { rows: ReadonlySet<string>; cells: readonly string[] },
): SocketAddress[] => {
  const single = selected.cells.flatMap(text => {
    const [, instanceId, parameter] = CELL_KEY.exec(text) ?? []
    return instanceId === undefined || parameter === undefined ? [] : [{ instanceId, parameter }]
  })
  const ofRows = cells.filter(cell => selected.rows.has(rowKeyOf(cell)))
  const all = [...single, ...ofRows.map(({ instanceId, parameter }) => ({ instanceId, parameter }))]
  return [...new Map(all.map(address => [cellKeyOf(address), address])).values()]
}
