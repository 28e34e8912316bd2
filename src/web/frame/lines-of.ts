/** Splits a text into its lines, trimmed and without empty ones. */
export const linesOf = (typed: string): string[] =>
  typed
    .split(/\r\n|\r|\n/)
    .map(line => line.trim())
    .filter(line => line !== '')
