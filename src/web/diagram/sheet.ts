import type { PatchCaller, PatchGlobal, PatchParameter, PatchState } from './patch.ts'

// What is drawn of a patch, before anything has a place: the picture and the list are both made of it, so that nothing
// is in the one that is not in the other.

/** A parameter, or, in a stack, those of many tools that share name and source. */
export type Row = PatchParameter & { count?: number | undefined }
export type WiredRow = Exclude<Row, { source: 'exposed' }>
export type ExposedRow = Extract<Row, { source: 'exposed' }>

export const isExposed = (row: Row): row is ExposedRow => row.source === 'exposed'
export const isWired = (row: Row): row is WiredRow => row.source !== 'exposed'

/** Of a global or secret that is there. */
export const globalKeyOf = (row: WiredRow): string | undefined =>
  row.source === 'global' || row.source === 'secret' ? row.key : undefined

/** One tool, or a stack of them. */
export type Panel = {
  name: string
  href: string | undefined
  meta: string
  isFailed: boolean
  isStack: boolean
  /** What is wired enters on the left, */
  left: readonly WiredRow[]
  /** what the model gives enters on the right. */
  right: readonly ExposedRow[]
  /** Rows that would be on the left, were there room. */
  hiddenRows: number
}

export type Source = {
  name: string
  href: string | undefined
  health: string
  state: PatchState
  panels: readonly Panel[]
}

/** The globals that have a row, in the order of their sockets; those without one are counted. */
export type Rack = { rows: readonly PatchGlobal[]; hiddenGlobals: number; href: string | undefined }

export type Sheet = {
  title: string
  toolCount: number
  isGathered: boolean
  sources: readonly Source[]
  rack: Rack
  callers: { tier: string; href: string | undefined; list: readonly PatchCaller[] }
}
