/** How much of a large server is drawn. */
export type Detail = {
  /** Sources with their own box. One more box stands for the others. */
  sources: number
  /** Maximum rows of a stack. */
  stackRows: number
  /** Failing tools drawn beside the stack of their source. With 0 they are part of the stack. */
  openTools: number
  /** Maximum rows of each of these tools. */
  openRows: number
}

/** A patch within both limits is drawn with every tool and every parameter. */
export const MAX_OPEN_TOOLS = 12
export const MAX_OPEN_SOCKETS = 60
export const MAX_GLOBALS = 10
export const MAX_CALLERS = 5

/** A diagram with stacks that exceeds this height is drawn again in less detail. */
export const MAX_STACKED_HEIGHT = 1_400

/** Finest first. With the last one, every server stays below `MAX_STACKED_HEIGHT`. */
export const DETAILS: readonly [Detail, ...Detail[]] = [
  { sources: 8, stackRows: 6, openTools: 6, openRows: 12 },
  { sources: 8, stackRows: 6, openTools: 3, openRows: 8 },
  { sources: 8, stackRows: 4, openTools: 2, openRows: 4 },
  { sources: 8, stackRows: 3, openTools: 1, openRows: 3 },
  { sources: 8, stackRows: 2, openTools: 0, openRows: 2 },
  { sources: 5, stackRows: 1, openTools: 0, openRows: 1 },
]
