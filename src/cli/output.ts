import { printable } from './printable.ts'

/** Prints one JSON value with `--json`, and lines of text otherwise. */
export const print = (options: { json?: boolean | undefined }, value: unknown, lines: readonly string[]): void => {
  process.stdout.write(options.json === true ? `${JSON.stringify(value)}\n` : `${lines.map(printable).join('\n')}\n`)
}
