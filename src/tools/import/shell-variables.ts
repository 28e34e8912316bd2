import type { TextCursor } from './text-cursor.ts'
import { notClosed } from './text-fault.ts'
import { toSnakeCase, type VariableList } from './variable-marks.ts'

/** Reads to the bracket that closes one that is open. Quotes inside do not count: few commands have brackets there. */
const takeNested = (cursor: TextCursor, open: '(' | '{'): string => {
  const start = cursor.offset()
  let text = ''
  for (let depth = 1; ; ) {
    if (cursor.isAtEnd()) throw notClosed(open === '(' ? 'command' : 'variable', start - 2)
    const plain = cursor.take(open === '(' ? /[^()]+/y : /[^{}]+/y)
    if (plain !== '') {
      text += plain
      continue
    }
    const bracket = cursor.take(/./sy)
    depth += bracket === open ? 1 : -1
    if (depth === 0) return text
    text += bracket
  }
}

/** Names a command by its first word, such as `date` for `$(date +%F)`. */
const nameOfCommand = (command: string): string =>
  toSnakeCase(/^\s*([\w./-]{0,100})/.exec(command)?.[1] ?? '', 'command')

/** Positional and special parameters, such as `$1` and `$@`. */
const SPECIAL = /^[0-9@*#?$!-]$/

/**
 * Reads a variable or a command substitution that starts with `$`, and returns its mark. Returns undefined, without
 * moving, if the `$` is only a character. `$env:NAME` is PowerShell's.
 */
export const takeDollar = (cursor: TextCursor, variables: VariableList): string | undefined => {
  const offset = cursor.offset()
  const add = (name: string, written: string): string => variables.add({ name, written, from: 'shell' }, offset)

  const plain = cursor.take(/\$(?:env:)?[A-Za-z_][A-Za-z0-9_]*/iy)
  if (plain !== '') return add(plain.replace(/^\$(?:env:)?/i, ''), plain)
  const next = cursor.peek(1)
  if (next === '{') {
    cursor.take(/\$\{/y)
    const inner = takeNested(cursor, '{')
    const name = /^(?:env:)?!?#?([A-Za-z_]\w{0,100})/i.exec(inner)?.[1]
    return add(name ?? 'argument', `\${${inner}}`)
  }
  if (next === '(') {
    cursor.take(/\$\(/y)
    const inner = takeNested(cursor, '(')
    return add(nameOfCommand(inner), `$(${inner})`)
  }
  if (!SPECIAL.test(next)) return undefined
  const written = cursor.take(/\$./sy)
  return add(/\d/.test(next) ? `argument_${next}` : 'argument', written)
}

/** Reads a command substitution in backticks, and returns its mark. */
export const takeBackticks = (cursor: TextCursor, variables: VariableList): string => {
  const offset = cursor.offset()
  cursor.take(/`/y)
  const command = cursor.takeThrough('`')
  if (command === undefined) throw notClosed('command', offset)
  return variables.add({ name: nameOfCommand(command), written: `\`${command}\``, from: 'shell' }, offset)
}
