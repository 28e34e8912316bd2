const ends = new Set<() => unknown>()

/** Runs `end` after each test file. A shared module is loaded once per worker, so its own hooks would run only once. */
export const atEndOfFile = (end: () => unknown): void => {
  ends.add(end)
}

/** Runs after the hooks of the test file itself. */
export const endFile = async (): Promise<void> => {
  for (const end of ends) await end()
}
