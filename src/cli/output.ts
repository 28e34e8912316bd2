import { printable } from './printable.ts'

/** One JSON value with `--json`, lines for people without. */
export const print = (options: { json?: boolean | undefined }, value: unknown, lines: readonly string[]): void => {
  process.stdout.write(options.json === true ? `${JSON.stringify(value)}\n` : `${lines.map(printable).join('\n')}\n`)
}
