const ends = new Set<() => unknown>()

/**
 * For what several test files share, and which has something to put away after each: their worker loads it once, so
 * that a hook of its own would go with the first file alone.
 */
export const atEndOfFile = (end: () => unknown): void => {
  ends.add(end)
}

/** After the hooks of the file itself. */
export const endFile = async (): Promise<void> => {
  for (const end of ends) await end()
}
