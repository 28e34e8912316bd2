/**
 * Control characters, which steer a terminal, and characters that are invisible or reverse the text, which make a line
 * look like a different command.
 */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Replaces characters with which a file or another server could steer the terminal. Returns one line. */
export const printable = (line: string): string => line.replaceAll(STEERING, '\u{fffd}')

/** Prints a line for the operator to standard error. */
export const printError = (line: string): void => void process.stderr.write(`patchbay: ${printable(line)}\n`)

/** Prints one JSON value with `--json`, and lines of text otherwise. */
export const print = (options: { json?: boolean | undefined }, value: unknown, lines: readonly string[]): void => {
  process.stdout.write(options.json === true ? `${JSON.stringify(value)}\n` : `${lines.map(printable).join('\n')}\n`)
}
