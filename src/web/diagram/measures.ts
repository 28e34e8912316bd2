// Where the columns of the picture stand and how large its parts are, in units of the viewBox. CSS scales the whole.

export type Rect = { x: number; y: number; width: number; height: number }
export type Point = readonly [x: number, y: number]

export const WIDTH = 1152

/** Boxes of toolkits and upstreams, and the rack of globals; the jacks of the rack are on its right edge. */
export const SOURCES = { x: 0, width: 232 }
/** Vertical lanes, one for each global in use, at most `step` apart. */
export const LANES = { first: 254, last: 308, step: 24 }
/** What comes from one source stands on one frame. */
export const FRAME = { x: 318, width: 550, padding: 12 }
export const TOOLS = { x: 440, width: 416 }
/** The one lane of everything that is exposed. */
export const COLLECTOR = 904
export const CALLERS = { x: 948, width: 204 }

/** Rows of a panel and of the rack have the same pitch, so that a rack at the right height gives straight cables. */
export const ROW = 30
export const PANEL = { head: 36, beforeRows: 4, foot: 4, gap: 12 }
/** What shows behind a stack that it is one: two sheets, each this much lower than the one before it. */
export const SHEET = 5
export const GROUP_GAP = 28
export const SOURCE_HEIGHT = 64
/** Joins the box of a source with its frame. */
export const BAND = { y: 21, height: 22, overlap: 8 }
export const RACK = { head: 38, foot: 8, margin: 20 }
export const CALLER = { head: 46, row: 44, foot: 14, jack: 24 }
/** A short stub leads from a tag to a socket. */
export const STUB = 22
export const TAG_HEIGHT = 22
/** Of a cable's corners. */
export const RADIUS = 11

export const rightOf = ({ x, width }: { x: number; width: number }): number => x + width
