import type { PatchCaller, PatchGlobal, PatchParameter, PatchState } from './patch.ts'

// The content of a patch diagram, before layout. The diagram and the list are both built from it, so they always agree.

/** A parameter. In a stack, a row represents all parameters with the same name and source. */
export type Row = PatchParameter & { count?: number | undefined }
export type WiredRow = Exclude<Row, { source: 'exposed' }>
export type ExposedRow = Extract<Row, { source: 'exposed' }>

export const isExposed = (row: Row): row is ExposedRow => row.source === 'exposed'
export const isWired = (row: Row): row is WiredRow => row.source !== 'exposed'

/** Returns the key of the existing global or secret that the row uses. */
export const globalKeyOf = (row: WiredRow): string | undefined =>
  row.source === 'global' || row.source === 'secret' ? row.key : undefined

/** A tool or a stack of tools. */
export type Panel = {
  name: string
  href: string | undefined
  meta: string
  isFailed: boolean
  isStack: boolean
  /** Bound parameters. */
  left: readonly WiredRow[]
  /** Exposed parameters. */
  right: readonly ExposedRow[]
  /** Number of rows left out on the left. */
  hiddenRows: number
}

export type Source = {
  name: string
  href: string | undefined
  health: string
  state: PatchState
  panels: readonly Panel[]
}

/** The globals that have a row, in the order of their sockets, and the number of other globals. */
export type Rack = { rows: readonly PatchGlobal[]; hiddenGlobals: number; href: string | undefined }

export type DiagramContent = {
  title: string
  toolCount: number
  isStacked: boolean
  sources: readonly Source[]
  rack: Rack
  callers: { tier: string; href: string | undefined; list: readonly PatchCaller[] }
}
