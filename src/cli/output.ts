/**
 * Control characters, which can manipulate a terminal, and characters that are invisible or reverse the text, which can
 * make a line look like a different command.
 */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Replaces characters with which a file or another server could manipulate the terminal. Returns a single line. */
export const printable = (line: string): string => line.replaceAll(STEERING, '\u{fffd}')

/** Prints a line for the operator to standard error. */
export const printError = (line: string): void => void process.stderr.write(`patchbay: ${printable(line)}\n`)

/** Prints the value as JSON with `--json`, and the lines as text without it. */
export const print = (options: { json?: boolean | undefined }, value: unknown, lines: readonly string[]): void => {
  process.stdout.write(options.json === true ? `${JSON.stringify(value)}\n` : `${lines.map(printable).join('\n')}\n`)
}
