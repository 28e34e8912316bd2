/** Where a text stops being JSON, counted from 1 in characters as people see them, and what is wrong there. */
export type JsonFault = { line: number; column: number; message: string }

type Expected = 'value' | 'first value' | 'first key' | 'key' | 'colon' | 'comma or end' | 'nothing'
type Bracket = '{' | '['

const CLOSING = { '{': '}', '[': ']' } as const
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y
const WORD = /(?:true|false|null)(?!\w)/y
const BLANK = /[ \t\r\n]/
const HEX = /^[0-9a-fA-F]{4}$/

const faultAt = (text: string, at: number, message: string): JsonFault => {
  const before = text.slice(0, at).split('\n')
  const last = before.at(-1) ?? ''
  return { line: before.length, column: [...last].length + 1, message }
}

const matchAt = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}

/** The end of the string that begins at `from`, or where and why it has none. */
const scanString = (text: string, from: number): { end: number } | { at: number; message: string } => {
  for (let at = from + 1; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') return { end: at + 1 }
    if (char === '\n' || char === '\r')
      return { at, message: 'the text is not closed: write a line break in it as \\n' }
    if (char < ' ') return { at, message: 'a control character in a text must be escaped, such as \\t' }
    if (char !== '\\') continue
    const next = text.charAt(++at)
    if (next === 'u' && HEX.test(text.slice(at + 1, at + 5))) at += 4
    else if (next === '' || !'"\\/bfnrt'.includes(next))
      return { at: at - 1, message: 'no such escape: \\ is written \\\\' }
  }
  return { at: from, message: 'the text that begins here is not closed with "' }
}

const WANTED: Readonly<Record<Expected, string>> = {
  value: 'a value is missing',
  'first value': 'a value or ] is missing',
  'first key': 'a key in double quotes or } is missing',
  key: 'a key in double quotes is missing',
  colon: 'a colon is missing after the key',
  'comma or end': 'a comma is missing',
  nothing: 'nothing may follow: the JSON has ended before',
}

const explain = (text: string, at: number, expected: Expected, open: Bracket | undefined): string => {
  const char = text.charAt(at)
  if (char === '') return open === undefined ? WANTED[expected] : `it ends too early: ${CLOSING[open]} is missing`
  if (char === "'") return 'texts stand in double quotes'
  if (expected === 'comma or end' && open !== undefined && (char === '}' || char === ']')) {
    return `${CLOSING[open]} is needed to close what is open, not ${char}`
  }
  if (expected === 'value' && char === ',') return 'a comma too many'
  return WANTED[expected]
}

/**
 * Finds what `JSON.parse` refuses, and says where for people: a comma too many, a missing bracket. undefined where the
 * text is JSON (RFC 8259). Linear, without recursion.
 */
export const findJsonFault = (text: string): JsonFault | undefined => {
  const open: Bracket[] = []
  let expected: Expected = 'value'
  let comma = 0
  let at = 0
  const afterValue = (): Expected => (open.length === 0 ? 'nothing' : 'comma or end')
  for (;;) {
    while (BLANK.test(text.charAt(at))) at++
    const char = text.charAt(at)
    const bracket = open.at(-1)
    if (char === '' && expected === 'nothing') return undefined
    const wantsValue: boolean = expected === 'value' || expected === 'first value'
    const isClosing = bracket !== undefined && char === CLOSING[bracket]
    if (isClosing && (expected === 'comma or end' || expected === 'first key' || expected === 'first value')) {
      open.pop()
      expected = afterValue()
      at++
    } else if (isClosing && (expected === 'key' || expected === 'value') && text.charAt(comma) === ',') {
      return faultAt(text, comma, `a comma too many: ${char} follows`)
    } else if (expected === 'comma or end' && char === ',') {
      comma = at++
      expected = bracket === '{' ? 'key' : 'value'
    } else if (expected === 'colon' && char === ':') {
      comma = at++
      expected = 'value'
    } else if (char === '"' && (wantsValue || expected === 'key' || expected === 'first key')) {
      const scanned = scanString(text, at)
      if ('message' in scanned) return faultAt(text, scanned.at, scanned.message)
      expected = wantsValue ? afterValue() : 'colon'
      at = scanned.end
    } else if (wantsValue && (char === '{' || char === '[')) {
      open.push(char)
      expected = char === '{' ? 'first key' : 'first value'
      at++
    } else {
      const length = wantsValue ? matchAt(NUMBER, text, at) || matchAt(WORD, text, at) : 0
      if (length === 0) return faultAt(text, at, explain(text, at, expected, bracket))
      expected = afterValue()
      at += length
    }
  }
}

/** `line 3, column 12: a comma too many: } follows` */
export const describeJsonFault = ({ line, column, message }: JsonFault): string =>
  `line ${line}, column ${column}: ${message}`
