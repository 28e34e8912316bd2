import { MAX_JSON_DEPTH } from '../lib/kernel/limits.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { HOLE } from './scan.ts'

/** Text as written, the number of a place, or an array or object that may lose members. */
export type JsonPiece = string | number | JsonContainer
export type JsonContainer = { open: string; members: readonly (readonly JsonPiece[])[]; close: string }

/** Where a place stands: `key` and `escape` are inside a key, and inside a `\u` escape. */
export type JsonSpot = 'json' | 'json-string' | 'key' | 'escape'

export type JsonShape = { pieces: readonly JsonPiece[]; spots: readonly JsonSpot[] }
export type JsonFault = { index: number; message: string }

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /(?:true|false|null)(?![A-Za-z0-9_])/y
const BLANK = /[ \t\r\n]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y
/** An escape that a value would have to finish. */
const BROKEN_ESCAPE = /\\u[0-9A-Fa-f]{0,3}(?=\0)/y
/** All but the quote, the backslash and control characters, a HOLE among them. */
const PLAIN = /[ !#-[\]-\uffff]+/y

type Member = { pieces: readonly JsonPiece[]; mayGo: boolean }

/** Nothing in it may go: the members are fixed text and places like everything around them. */
const flatten = (open: string, members: readonly Member[], close: string): readonly JsonPiece[] => [
  open,
  ...members.flatMap(({ pieces }, index) => (index === 0 ? pieces : [',', ...pieces])),
  close,
]

/**
 * Reads a masked text as JSON (RFC 8259) in which a place is a value, or a part of a string. All the text stays as it
 * was written. An array or object with a member that is nothing but an optional place becomes a container, so that
 * the member can go with its key and its comma.
 */
export const readJson = (masked: string, isOptional: (place: number) => boolean): Result<JsonShape, JsonFault> => {
  const spots: JsonSpot[] = []
  let at = 0
  let fault: JsonFault | undefined

  const fail = (message: string): undefined => {
    fault ??= { index: at, message }
    return undefined
  }
  /** Takes what the pattern finds right here. */
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(masked) ?? []
    at += found.length
    return found
  }
  const takePlace = (spot: JsonSpot): number => {
    at++
    return spots.push(spot) - 1
  }

  const readString = (spot: 'json-string' | 'key'): readonly JsonPiece[] | undefined => {
    const pieces: JsonPiece[] = ['"']
    for (at++; ; ) {
      const text = take(PLAIN) || take(ESCAPE)
      const broken = text === '' ? take(BROKEN_ESCAPE) : ''
      if (text !== '') pieces.push(text)
      else if (broken !== '') pieces.push(takePlace('escape'))
      else if (masked[at] === HOLE) pieces.push(takePlace(spot))
      else if (masked[at] === '"') break
      else if (masked[at] === undefined) return fail('a string does not end: a " is missing')
      else if (masked[at] === '\\') return fail('this is no escape that JSON knows: write \\\\ for a backslash')
      else return fail('a string may not hold line breaks and control characters: write \\n, \\t or \\u0000')
    }
    at++
    return [...pieces, '"']
  }

  const readKey = (): readonly JsonPiece[] | undefined => {
    const key = masked[at] === HOLE ? [takePlace('key')] : masked[at] === '"' ? readString('key') : undefined
    if (key === undefined) return fail('a key is missing here: write "key": value')
    const before = take(BLANK)
    if (masked[at] !== ':') return fail('a colon is missing after the key')
    at++
    return [...key, `${before}:${take(BLANK)}`]
  }

  const readMember = (isObject: boolean, depth: number): Member | undefined => {
    const key = isObject ? readKey() : []
    const value = key && readValue(depth)
    if (key === undefined || value === undefined) return undefined
    const [only] = value
    const mayGo = value.length === 1 && typeof only === 'number' && isOptional(only)
    return { pieces: [...key, ...value, take(BLANK)], mayGo }
  }

  const readContainer = (open: '{' | '[', depth: number): readonly JsonPiece[] | undefined => {
    const close = open === '{' ? '}' : ']'
    if (depth > MAX_JSON_DEPTH) return fail(`nested more than ${MAX_JSON_DEPTH} deep`)
    at++
    const members: Member[] = []
    let lead = take(BLANK)
    if (masked[at] === close) {
      at++
      return [open + lead + close]
    }
    for (;;) {
      const member = readMember(open === '{', depth)
      if (member === undefined) return undefined
      members.push({ ...member, pieces: [lead, ...member.pieces] })
      if (masked[at] === close) break
      if (masked[at] !== ',') return fail(`a comma or ${close} is missing here`)
      at++
      lead = take(BLANK)
    }
    at++
    if (!members.some(member => member.mayGo)) return flatten(open, members, close)
    return [{ open, members: members.map(member => member.pieces), close }]
  }

  const readValue = (depth: number): readonly JsonPiece[] | undefined => {
    const char = masked[at]
    if (char === HOLE) return [takePlace('json')]
    if (char === '"') return readString('json-string')
    if (char === '{' || char === '[') return readContainer(char, depth + 1)
    const text = take(NUMBER) || take(WORD)
    return text === '' ? fail('a JSON value is missing here') : [text]
  }

  const lead = take(BLANK)
  const value = readValue(0)
  const tail = take(BLANK)
  if (value !== undefined && at < masked.length) fail('nothing may follow the JSON value')
  return value === undefined || fault !== undefined
    ? failure(fault ?? { index: at, message: 'a JSON value is missing here' })
    : success({ pieces: [lead, ...value, tail], spots })
}
