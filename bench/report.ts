/** Renders tables and figures as text. */
import { cpus } from 'node:os'

/** A measured value and its required limit. NaN means that the value could not be measured. */
export type Figure = {
  title: string
  /** Undefined for a figure that is only reported. */
  required?: { atLeast: number } | { atMost: number }
  measured: number
  unit: string
  note?: string
}
export type Verdict = 'pass' | 'MISS' | 'BROKEN' | 'no goal'
export type Table = { title: string; columns: readonly string[]; rows: readonly (readonly string[])[] }

export const verdictOf = ({ required, measured }: Figure): Verdict => {
  if (Number.isNaN(measured)) return 'BROKEN'
  if (required === undefined) return 'no goal'
  const isReached = 'atLeast' in required ? measured >= required.atLeast : measured <= required.atMost
  return isReached ? 'pass' : 'MISS'
}

/** Formats a number with three significant digits, or as a whole number if it is 1,000 or more. */
export const show = (value: number): string => {
  if (Number.isNaN(value)) return '-'
  return Math.abs(value) >= 1_000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
}

/** Formats a table with the first column aligned left and the others right. */
export const renderTable = ({ title, columns, rows }: Table): string => {
  const lines = [columns, ...rows]
  const widths = columns.map((_, column) => Math.max(...lines.map(line => (line[column] ?? '').length)))
  const render = (line: readonly string[]): string =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return [title, ...lines.map(render)].join('\n')
}

const showRequired = ({ required, unit }: Figure): string => {
  if (required === undefined) return ''
  const bound = 'atLeast' in required ? `at least ${required.atLeast}` : `at most ${required.atMost}`
  return `${bound} ${unit}`.trim()
}

export const toFigureTable = (figures: readonly Figure[]): Table => ({
  title: 'Figures',
  columns: ['', 'measured', 'required', '', ''],
  rows: figures.map(figure => {
    const { title, measured, unit, note = '' } = figure
    return [title, `${show(measured)} ${unit}`.trim(), showRequired(figure), verdictOf(figure), note]
  }),
})

export type Machine = { node: string; processor: string; cores: number; pinned: boolean }
export const describeMachine = (isPinned: boolean): Machine => ({
  node: process.version,
  processor: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  pinned: isPinned,
})

export const renderMachine = ({ node, processor, cores, pinned }: Machine): string =>
  `Node ${node} on ${processor}, ${cores} cores; ${
    pinned ? 'one core for the server, one for the API and the load' : 'not pinned to cores: no taskset, or one core'
  }`
