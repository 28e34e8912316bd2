/** Splits text into trimmed lines, leaving out empty ones. */
export const linesOf = (typed: string): string[] =>
  typed
    .split(/\r\n|\r|\n/)
    .map(line => line.trim())
    .filter(line => line !== '')
