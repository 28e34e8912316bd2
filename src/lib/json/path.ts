import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/json.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { findExactNumber } from './exact-numbers.ts'

/** One step of a path: into a member, an item, every item of an array, every member or item, or to any depth. */
export type PathStep =
  | { kind: 'member'; name: string }
  | { kind: 'item'; index: number }
  | { kind: 'items' }
  | { kind: 'any' }
  | { kind: 'deep' }
export type Path = readonly PathStep[]

/** An error in a path string. Columns start at 1. */
export type PathFault = { column: number; message: string }

export const MAX_PATH_CHARACTERS = 1_000
const MAX_STEPS = 500
/** `$` means the whole value only on its own or before a dot or bracket. `$ref` is a name. */
const ROOT = /^(?:\$(?=$|[.[]))?(?:\.(?=$|\[))?/
const TOKEN =
  /(?:\.|^)(\*\*?)|\.?\[\s*(?:\*?|(-?\d{1,9})|("(?:[^"\\]|\\.)*")|'((?:[^'\\]|\\.)*)')\s*\]|(?:\.|^)([^.[\]*]+)/y

const SYNTAX = 'write a path like items[].name, items[0], *.links, **.id or meta["odd.name"]'
/** Matches a `*` that stands for a part of a name, which paths do not have. */
const PARTIAL_WILDCARD = /(?:^|\.)[^.[\]*]*(?:[^.[\]*]\*|\*[^.[\]*])/

const withoutBackslashes = (quoted: string): string => quoted.replace(/\\(.)/g, '$1')

/** Decodes a double-quoted name as a JSON string. If it is not valid JSON, only removes the backslashes. */
const unquote = (quoted: string): string => {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return withoutBackslashes(quoted.slice(1, -1))
  }
}

const toStep = ([token, stars, index, double, single, name]: RegExpExecArray): PathStep => {
  if (stars !== undefined) return { kind: stars === '**' ? 'deep' : 'any' }
  if (index !== undefined) return { kind: 'item', index: Number(index) }
  if (double !== undefined) return { kind: 'member', name: unquote(double) }
  if (single !== undefined) return { kind: 'member', name: withoutBackslashes(single) }
  if (name !== undefined) return { kind: 'member', name: name.trim() }
  return token.includes('*') ? { kind: 'any' } : { kind: 'items' }
}

/** Parses `users[].name`, `$.users[0]["a.b"].*` or `**.id`. An empty string, `$` and `.` mean the whole value. */
export const parsePath = (text: string): Result<Path, PathFault> => {
  const body = text.trim()
  const lead = text.length - text.trimStart().length
  const fail = (column: number, message: string) => failure({ column: lead + column, message })
  if (body.length > MAX_PATH_CHARACTERS) return fail(1, `a path has at most ${MAX_PATH_CHARACTERS} characters`)
  const steps: PathStep[] = []
  let at = ROOT.exec(body)?.[0].length ?? 0
  while (at < body.length) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(body)
    if (token === null || steps.length === MAX_STEPS) {
      return fail(
        at + (body[at] === '.' ? 2 : 1),
        PARTIAL_WILDCARD.test(body) ? `${SYNTAX}; a * stands for a whole name` : SYNTAX,
      )
    }
    const step = toStep(token)
    // A repeated `**` adds nothing.
    if (step.kind !== 'deep' || steps.at(-1)?.kind !== 'deep') steps.push(step)
    at = TOKEN.lastIndex
  }
  return steps.at(-1)?.kind === 'deep' ? fail(body.length, 'a name must follow **') : success(steps)
}

/** Returns a sentence that explains why a string is not a path. */
export const describePathFault = (text: string, { column, message }: PathFault): string =>
  `"${text.slice(0, 80)}" is not a path: column ${column}: ${message}.`

/** Far more than one request needs. Each path is evaluated against the whole result. */
const MAX_PATHS = 200

/** Parses several paths. The error is a sentence about the first problem. */
export const parsePaths = (texts: readonly string[]): Result<readonly Path[], string> => {
  if (texts.length > MAX_PATHS) return failure(`${texts.length} fields are too many: at most ${MAX_PATHS}.`)
  const paths: Path[] = []
  for (const text of texts) {
    const path = parsePath(text)
    if (!path.ok) return failure(describePathFault(text, path.error))
    paths.push(path.value)
  }
  return success(paths)
}

/** Matches names that need no quotes. */
const PLAIN_NAME = /^(?!\$$)[^.[\]*\s"'](?:[^.[\]*"']*[^.[\]*\s"'])?$/

const quote = (name: string): string => `"${name.replace(/["\\]/g, '\\$&')}"`

/** Renders a path in the syntax that `parsePath` reads. */
export const renderPath = (path: Path): string => {
  const text = path.map(step => {
    if (step.kind === 'items') return '[]'
    if (step.kind === 'any') return '.*'
    if (step.kind === 'deep') return '.**'
    if (step.kind === 'item') return `[${step.index}]`
    return PLAIN_NAME.test(step.name) ? `.${step.name}` : `[${quote(step.name)}]`
  })
  return text.join('').replace(/^\./, '') || '$'
}

/** Whether a value is an object with members, rather than an object that represents a number. */
export const hasMembers = (value: JsonValue | undefined): value is JsonObject =>
  isJsonObject(value) && findExactNumber(value) === undefined

/** Returns the array index that a member name represents, because people also write `users.0.name`. */
export const indexOfName = (name: string): number | undefined => (/^\d{1,9}$/.test(name) ? Number(name) : undefined)

/** Returns all arrays and objects in a value, including the value itself. */
const listContainers = (value: JsonValue): JsonValue[] => {
  const found: JsonValue[] = []
  const add = (each: JsonValue): void => {
    if (!Array.isArray(each) && !hasMembers(each)) return
    found.push(each)
    for (const child of Array.isArray(each) ? each : Object.values(each)) add(child)
  }
  add(value)
  return found
}

/**
 * Returns the values that one step leads to. A name applied to an array selects that member of each item, unless the
 * name is a number: `users.name` means `users[].name`, even through nested arrays.
 */
export const follow = (value: JsonValue, step: PathStep): readonly JsonValue[] => {
  if (step.kind === 'deep') return listContainers(value)
  if (Array.isArray(value)) {
    if (step.kind === 'items' || step.kind === 'any') return value
    const index = step.kind === 'item' ? step.index : indexOfName(step.name)
    if (index !== undefined) return value.slice(index, index === -1 ? undefined : index + 1)
    return value.flatMap(item => follow(item, step))
  }
  if (!hasMembers(value)) return []
  if (step.kind === 'any') return Object.values(value)
  if (step.kind !== 'member' || !Object.hasOwn(value, step.name)) return []
  return [value[step.name] ?? null]
}

/** Returns the values that a path leads to, without duplicates. */
export const valuesAt = (root: JsonValue, path: Path): readonly JsonValue[] =>
  path.reduce<readonly JsonValue[]>(
    (values, step) => {
      const next = values.flatMap(value => follow(value, step))
      // Only a `**` can reach the same container more than once.
      return step.kind === 'deep' ? [...new Set(next)] : next
    },
    [root],
  )
