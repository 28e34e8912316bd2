/** How much of a large server is drawn. */
export type Detail = {
  /** Sources with a box of their own; one more box stands for the rest. */
  sources: number
  /** Rows of a stack. */
  stackRows: number
  /** Tools beside a stack of one source, because they fail. At 0 they are in it. */
  openTools: number
  /** Rows of each such tool. */
  openRows: number
}

/** Up to here every tool is drawn, with every parameter. */
export const MAX_OPEN_TOOLS = 12
export const MAX_OPEN_SOCKETS = 60
export const MAX_GLOBALS = 10
export const MAX_CALLERS = 5

/** Highest picture of a server whose tools are gathered; what is higher is drawn again with the next detail. */
export const MAX_GATHERED_HEIGHT = 1_400

/** From the finest on. With the last, every server stays below the highest picture. */
export const DETAILS: readonly [Detail, ...Detail[]] = [
  { sources: 8, stackRows: 6, openTools: 6, openRows: 12 },
  { sources: 8, stackRows: 6, openTools: 3, openRows: 8 },
  { sources: 8, stackRows: 4, openTools: 2, openRows: 4 },
  { sources: 8, stackRows: 3, openTools: 1, openRows: 3 },
  { sources: 8, stackRows: 2, openTools: 0, openRows: 2 },
  { sources: 5, stackRows: 1, openTools: 0, openRows: 1 },
]
