// Columns and sizes of the diagram, in viewBox units. CSS scales the diagram.

export type Rect = { x: number; y: number; width: number; height: number }
export type Point = readonly [x: number, y: number]

export const WIDTH = 1152

/** The column of toolkits, upstreams and the rack of globals. */
export const SOURCES = { x: 0, width: 232 }
/** Vertical lanes for cables, one per global in use, at most `step` apart. */
export const LANES = { first: 254, last: 308, step: 24 }
/** The frame around the tools of one source. */
export const FRAME = { x: 318, width: 550, padding: 12 }
export const TOOLS = { x: 440, width: 416 }
/** The lane shared by all exposed parameters. */
export const COLLECTOR = 904
export const CALLERS = { x: 948, width: 204 }

/** Row height in panels and in the rack. It is the same in both, so that cables can run straight. */
export const ROW = 30
export const PANEL = { head: 36, beforeRows: 4, foot: 4, gap: 12 }
/** A stack shows two edges behind it. Each edge is this much lower than the one in front of it. */
export const STACK_OFFSET = 5
export const GROUP_GAP = 28
export const SOURCE_HEIGHT = 64
/** The band that connects a source's box to its frame. */
export const BAND = { y: 21, height: 22, overlap: 8 }
export const RACK = { head: 38, foot: 8, margin: 20 }
export const CALLER = { head: 46, row: 44, foot: 14, jack: 24 }
/** Length of the cable between a tag and its socket. */
export const STUB = 22
export const TAG_HEIGHT = 22
/** Corner radius of cables. */
export const RADIUS = 11

/** Returns the mean; 0 for an empty list. */
export const meanOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, value) => sum + value, 0) / Math.max(1, numbers.length)

export const rightOf = ({ x, width }: { x: number; width: number }): number => x + width
