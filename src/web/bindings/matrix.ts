import type { SocketAddress, WiredPanel } from '../../servers/bindings/rewiring.service.ts'
import type { Socket, SocketSource } from '../../servers/bindings/sockets.ts'

/** `missing`: what reads a global that is not there. */
export type SourceFilter = SocketSource | 'missing'

export type MatrixSearch = { search: string; source: SourceFilter | undefined }

/** A parameter of one name and type, which several tools may have. */
export type MatrixRow = { key: string; parameter: string; type: Socket['type'] }

export type MatrixCell = Socket & SocketAddress & { tool: string }

/** Sockets of the tools, as rows of parameters: those that several tools have first. */
export type Matrix = { rows: readonly MatrixRow[]; panels: readonly WiredPanel[]; cells: readonly MatrixCell[] }

/** Names a row in a form. */
export const rowKeyOf = ({ parameter, type }: Pick<Socket, 'parameter' | 'type'>): string => `${type}:${parameter}`

const isOfSource = ({ source, missing }: Socket, wanted: SourceFilter | undefined): boolean =>
  wanted === undefined || (wanted === 'missing' ? missing.length > 0 : source === wanted)

/** What is looked for is in the parameter's name, the tool's, or what the socket is wired to. */
const isFound = ({ parameter, text, tool }: MatrixCell, wanted: string): boolean =>
  wanted === '' || [parameter, text, tool].some(one => one.toLowerCase().includes(wanted))

/** The sockets that a search finds. */
export const findCells = (panels: readonly WiredPanel[], { search, source }: MatrixSearch): MatrixCell[] => {
  const wanted = search.toLowerCase()
  return panels.flatMap(({ id, name, sockets }) =>
    sockets
      .map(socket => ({ ...socket, instanceId: id, tool: name }))
      .filter(cell => isOfSource(cell, source) && isFound(cell, wanted)),
  )
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The matrix of these sockets; a tool none of whose sockets is among them is left out. */
export const toMatrix = (panels: readonly WiredPanel[], cells: readonly MatrixCell[]): Matrix => {
  const byRow = Map.groupBy(cells, rowKeyOf)
  const rows = [...byRow]
    .flatMap(([key, [first, ...others]]) =>
      first === undefined ? [] : [{ key, parameter: first.parameter, type: first.type, count: others.length + 1 }],
    )
    .sort((a, b) => b.count - a.count || compareTexts(a.parameter, b.parameter) || compareTexts(a.type, b.type))
  const withCells = new Set(cells.map(({ instanceId }) => instanceId))
  return { rows, cells, panels: panels.filter(({ id }) => withCells.has(id)) }
}

const CELL_KEY = /^([0-9a-f-]{36}):(.+)$/s
export const cellKeyOf = ({ instanceId, parameter }: SocketAddress): string => `${instanceId}:${parameter}`

/** What a form has picked: single sockets, and rows, which stand for all of their sockets among `cells`. */
export const pickedSockets = (
  cells: readonly MatrixCell[],
  picked: { rows: ReadonlySet<string>; cells: readonly string[] },
): SocketAddress[] => {
  const single = picked.cells.flatMap(text => {
    const [, instanceId, parameter] = CELL_KEY.exec(text) ?? []
    return instanceId === undefined || parameter === undefined ? [] : [{ instanceId, parameter }]
  })
  const ofRows = cells.filter(cell => picked.rows.has(rowKeyOf(cell)))
  const all = [...single, ...ofRows.map(({ instanceId, parameter }) => ({ instanceId, parameter }))]
  return [...new Map(all.map(address => [cellKeyOf(address), address])).values()]
}
