import { MAX_JSON_DEPTH } from '../lib/kernel/limits.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { HOLE } from './scan.ts'

/** Fixed text, the index of a placeholder, or an array or object with removable members. */
export type JsonPiece = string | number | JsonContainer
export type JsonContainer = { open: string; members: readonly (readonly JsonPiece[])[]; close: string }

/** Where in the JSON a placeholder is. `key` means inside a key, and `escape` inside a `\u` escape. */
export type JsonSpot = 'json' | 'json-string' | 'key' | 'escape'

/** `names` holds, for each placeholder, the name of the innermost object member that contains it, with its escapes. */
export type JsonShape = {
  pieces: readonly JsonPiece[]
  spots: readonly JsonSpot[]
  names: readonly (string | undefined)[]
}
export type JsonFault = { index: number; message: string }

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /(?:true|false|null)(?![A-Za-z0-9_])/y
const BLANK = /[ \t\r\n]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y
/** Matches an unfinished escape that a placeholder's value would complete. */
const BROKEN_ESCAPE = /\\u[0-9A-Fa-f]{0,3}(?=\0)/y
/** Matches all characters except quotes, backslashes and control characters such as HOLE. */
const PLAIN = /[ !#-[\]-\uffff]+/y

type Member = { pieces: readonly JsonPiece[]; isRemovable: boolean }

/** Flattens a container without removable members into text and placeholders. */
const flatten = (open: string, members: readonly Member[], close: string): readonly JsonPiece[] => [
  open,
  ...members.flatMap(({ pieces }, index) => (index === 0 ? pieces : [',', ...pieces])),
  close,
]

/**
 * Parses text with holes as JSON (RFC 8259), where a placeholder is a value or part of a string. Does not change the
 * text. If a member of an array or object is only an optional placeholder, the array or object becomes a container, so
 * that the member can be removed along with its key and comma.
 */
export const readJson = (holed: string, isOptional: (place: number) => boolean): Result<JsonShape, JsonFault> => {
  const spots: JsonSpot[] = []
  const names: (string | undefined)[] = []
  let name: string | undefined
  let at = 0
  let fault: JsonFault | undefined

  const fail = (message: string): undefined => {
    fault ??= { index: at, message }
    return undefined
  }
  /** Consumes and returns the text that the pattern matches at the current position. */
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(holed) ?? []
    at += found.length
    return found
  }
  const takePlace = (spot: JsonSpot): number => {
    at++
    names.push(name)
    return spots.push(spot) - 1
  }

  const readString = (spot: 'json-string' | 'key'): readonly JsonPiece[] | undefined => {
    const pieces: JsonPiece[] = ['"']
    for (at++; ; ) {
      const text = take(PLAIN) || take(ESCAPE)
      const broken = text === '' ? take(BROKEN_ESCAPE) : ''
      if (text !== '') pieces.push(text)
      else if (broken !== '') pieces.push(takePlace('escape'))
      else if (holed[at] === HOLE) pieces.push(takePlace(spot))
      else if (holed[at] === '"') break
      else if (holed[at] === undefined) return fail('a string is not closed: add a "')
      else if (holed[at] === '\\') return fail('this is not a valid escape in JSON: write \\\\ for a backslash')
      else return fail('a string cannot contain line breaks or control characters: write \\n, \\t or \\u0000')
    }
    at++
    return [...pieces, '"']
  }

  const readKey = (): readonly JsonPiece[] | undefined => {
    const start = at
    const key = holed[at] === HOLE ? [takePlace('key')] : holed[at] === '"' ? readString('key') : undefined
    if (key === undefined) return fail('a key is missing here: write "key": value')
    name = holed.slice(start + 1, at - 1)
    const before = take(BLANK)
    if (holed[at] !== ':') return fail('a colon is missing after the key')
    at++
    return [...key, `${before}:${take(BLANK)}`]
  }

  const readMember = (isObject: boolean, depth: number): Member | undefined => {
    const outer = name
    const key = isObject ? readKey() : []
    const value = key && readValue(depth)
    name = outer
    if (key === undefined || value === undefined) return undefined
    const [only] = value
    const isRemovable = value.length === 1 && typeof only === 'number' && isOptional(only)
    return { pieces: [...key, ...value, take(BLANK)], isRemovable }
  }

  const readContainer = (open: '{' | '[', depth: number): readonly JsonPiece[] | undefined => {
    const close = open === '{' ? '}' : ']'
    if (depth > MAX_JSON_DEPTH) return fail(`nested more than ${MAX_JSON_DEPTH} levels deep`)
    at++
    const members: Member[] = []
    let lead = take(BLANK)
    if (holed[at] === close) {
      at++
      return [open + lead + close]
    }
    for (;;) {
      const member = readMember(open === '{', depth)
      if (member === undefined) return undefined
      members.push({ ...member, pieces: [lead, ...member.pieces] })
      if (holed[at] === close) break
      if (holed[at] !== ',') return fail(`a comma or ${close} is missing here`)
      at++
      lead = take(BLANK)
    }
    at++
    if (!members.some(member => member.isRemovable)) return flatten(open, members, close)
    return [{ open, members: members.map(member => member.pieces), close }]
  }

  const readValue = (depth: number): readonly JsonPiece[] | undefined => {
    const char = holed[at]
    if (char === HOLE) return [takePlace('json')]
    if (char === '"') return readString('json-string')
    if (char === '{' || char === '[') return readContainer(char, depth + 1)
    const text = take(NUMBER) || take(WORD)
    return text === '' ? fail('a JSON value is missing here') : [text]
  }

  const lead = take(BLANK)
  const value = readValue(0)
  const tail = take(BLANK)
  if (value !== undefined && at < holed.length) fail('unexpected text after the JSON value')
  return value === undefined || fault !== undefined
    ? failure(fault ?? { index: at, message: 'a JSON value is missing here' })
    : success({ pieces: [lead, ...value, tail], spots, names })
}
