/** How much of a large server is drawn. */
export type Detail = {
  /** Number of sources that get their own box. One more box represents all the others. */
  sources: number
  /** Maximum rows in a stack. */
  stackRows: number
  /** Maximum failing tools drawn beside their source's stack. If 0, failing tools are part of the stack. */
  openTools: number
  /** Maximum rows in each failing tool drawn beside a stack. */
  openRows: number
}

/** A patch within the limits on tools and sockets is drawn with every tool and every parameter. */
export const MAX_OPEN_TOOLS = 12
export const MAX_OPEN_SOCKETS = 60
export const MAX_GLOBALS = 10
export const MAX_CALLERS = 5

/** Maximum height of a diagram with stacks. A taller diagram is drawn again in less detail. */
export const MAX_STACKED_HEIGHT = 1_400

/** Levels of detail, finest first. At the last level, every server stays below `MAX_STACKED_HEIGHT`. */
export const DETAILS: readonly [Detail, ...Detail[]] = [
  { sources: 8, stackRows: 6, openTools: 6, openRows: 12 },
  { sources: 8, stackRows: 6, openTools: 3, openRows: 8 },
  { sources: 8, stackRows: 4, openTools: 2, openRows: 4 },
  { sources: 8, stackRows: 3, openTools: 1, openRows: 3 },
  { sources: 8, stackRows: 2, openTools: 0, openRows: 2 },
  { sources: 5, stackRows: 1, openTools: 0, openRows: 1 },
]
