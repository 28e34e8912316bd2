import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/json.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { findExactNumber } from './exact-numbers.ts'

/** One step of a path: into a member, an item, every item of an array, or every member or item. */
export type PathStep =
  | { kind: 'member'; name: string }
  | { kind: 'item'; index: number }
  | { kind: 'items' }
  | { kind: 'any' }
export type Path = readonly PathStep[]

const MAX_PATH_CHARACTERS = 1_000
const MAX_STEPS = 64
const TOKENS = /(?:\.|^)(\*)|\[\s*(?:\*?|(-?\d{1,9})|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\]|(?:\.|^)([^.[\]*]+)/y

const unquote = (quoted: string): string => quoted.replace(/\\(.)/g, '$1')

const toStep = ([token, star, index, double, single, name]: RegExpExecArray): PathStep => {
  if (star !== undefined) return { kind: 'any' }
  if (index !== undefined) return { kind: 'item', index: Number(index) }
  const quoted = double ?? single
  if (quoted !== undefined) return { kind: 'member', name: unquote(quoted) }
  if (name !== undefined) return { kind: 'member', name: name.trim() }
  return token.includes('*') ? { kind: 'any' } : { kind: 'items' }
}

const refuse = (text: string): Result<Path, string> =>
  failure(
    `"${text.slice(0, 80)}" is no path. Write names with points between them, [] for every item of an array, [0] for one, ` +
      '* for every member, ["a.b"] for a name with signs in it: users[].address.city',
  )

/** Reads `users[].name`, `$.users[0]["a.b"].*`; an empty one, `$` and `.` are the whole. The error is a sentence. */
export const parsePath = (text: string): Result<Path, string> => {
  const body = text
    .trim()
    // Of the whole, not of a name such as `$ref`.
    .replace(/^\$(?=$|[.[])/, '')
    .replace(/^\.(?=$|\[|\*)/, '')
  if (body.length > MAX_PATH_CHARACTERS) return refuse(text)
  const steps: PathStep[] = []
  // A path may begin with a point, as those of jq do.
  TOKENS.lastIndex = 0
  while (TOKENS.lastIndex < body.length) {
    const token = TOKENS.exec(body)
    if (token === null || steps.length === MAX_STEPS) return refuse(text)
    steps.push(toStep(token))
  }
  return success(steps)
}

/** Far above what one question needs; each path is looked for in all of the answer. */
const MAX_PATHS = 200

/** Reads several. The error is a sentence about the first that is none. */
export const parsePaths = (texts: readonly string[]): Result<readonly Path[], string> => {
  if (texts.length > MAX_PATHS) return failure(`${texts.length} fields are too many: ${MAX_PATHS} is the most.`)
  const paths: Path[] = []
  for (const text of texts) {
    const path = parsePath(text)
    if (!path.ok) return path
    paths.push(path.value)
  }
  return success(paths)
}

/** Read as it stands: no sign in it means anything, and no blank at its ends would be lost. */
const PLAIN_NAME = /^(?!\$$)[^.[\]*\s"'](?:[^.[\]*"']*[^.[\]*\s"'])?$/

const quote = (name: string): string => `"${name.replace(/["\\]/g, '\\$&')}"`

/** The path as a model may send it again. */
export const renderPath = (path: Path): string => {
  const text = path.map(step => {
    if (step.kind === 'items') return '[]'
    if (step.kind === 'any') return '.*'
    if (step.kind === 'item') return `[${step.index}]`
    return PLAIN_NAME.test(step.name) ? `.${step.name}` : `[${quote(step.name)}]`
  })
  return text.join('').replace(/^\./, '') || '$'
}

/** Whether a value has members: an object, and no number that is kept as one. */
export const hasMembers = (value: JsonValue | undefined): value is JsonObject =>
  isJsonObject(value) && findExactNumber(value) === undefined

/** The index in an array that a member's name means: people write `users.0.name` too. */
export const indexOfName = (name: string): number | undefined => (/^\d{1,9}$/.test(name) ? Number(name) : undefined)

/**
 * The values that one step leads to from one value. A name that meets an array means that member of each item, unless
 * it is a number: `users.name` is `users[].name`, however many arrays there are between the two.
 */
export const follow = (value: JsonValue, step: PathStep): readonly JsonValue[] => {
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
