import { isDeepStrictEqual } from 'node:util'
import { RE2JS } from 're2js'
import type { FieldError } from '../lib/kernel/errors.ts'
import type { JsonValue } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { isDoneWithin } from '../lib/process/time-limit.ts'
import { castValue, EXPECTED, type Mismatch, type ValueSource } from './cast.ts'
import {
  FREE_PATTERN_STEPS,
  MAX_LISTED_ENUM_VALUES,
  MAX_MATCH_MS,
  MAX_PARAMETERS_MS,
  MAX_PATTERN_CHARS,
  MAX_PATTERN_INPUT_CHARS,
  MAX_PATTERN_INSTRUCTIONS,
} from './limits.ts'
import type { ParameterType, TemplateParameter } from './template.ts'

/** What a builder declares about a parameter in addition to its type. */
export type ParameterMeta = {
  description?: string | undefined
  enum?: JsonValue[] | undefined
  default?: JsonValue | undefined
  example?: JsonValue | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  /** Matches anywhere in the text (JSON Schema 2020-12 §6.3.3). Must be valid in both RE2 and ECMAScript. */
  pattern?: string | undefined
}

type MetaProblem = { key: keyof ParameterMeta; message: string }

/** Casts a value and checks it against its parameter's metadata. The error never contains the value. */
export type ParameterCheck = (value: JsonValue, from?: ValueSource) => Result<JsonValue, Mismatch>

/** Checks a rule other than the type. Returns undefined if the cast value satisfies the rule. */
type Rule = (value: JsonValue) => Mismatch | undefined

const enumRule = (allowed: readonly JsonValue[]): Rule => {
  const listed = allowed.slice(0, MAX_LISTED_ENUM_VALUES).map(value => JSON.stringify(value))
  const more = allowed.length - listed.length
  const expected = `one of ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const mismatch = { expected, got: 'another value' }
  return value => (allowed.some(candidate => isDeepStrictEqual(candidate, value)) ? undefined : mismatch)
}

const rangeRules = (type: ParameterType, { minimum, maximum }: ParameterMeta): readonly Rule[] => {
  const below = { expected: `${EXPECTED[type]} of at least ${minimum}`, got: 'a smaller value' }
  const above = { expected: `${EXPECTED[type]} of at most ${maximum}`, got: 'a greater value' }
  return [
    value => (minimum !== undefined && typeof value === 'number' && value < minimum ? below : undefined),
    value => (maximum !== undefined && typeof value === 'number' && value > maximum ? above : undefined),
  ]
}

/** Creates a function that returns whether a text matches the pattern, or undefined if matching takes too long. */
const createMatch = (source: string): ((text: string) => boolean | undefined) => {
  let pattern = RE2JS.compile(source)
  return text => {
    if (text.length * pattern.programSize() <= FREE_PATTERN_STEPS) return pattern.test(text)
    let found: boolean | undefined
    const isDone = isDoneWithin(MAX_MATCH_MS, isRetry => {
      if (isRetry) pattern = RE2JS.compile(source)
      found = pattern.test(text)
    })
    // Interrupting a matcher may leave its tables half-updated.
    if (!isDone) pattern = RE2JS.compile(source)
    return found
  }
}

/** Matches in bounded time, because both patterns and values come from untrusted users. */
const patternRule = (source: string): Rule => {
  const match = createMatch(source)
  const expected = `a string that matches ${source}`
  const tooLong = { expected: `a string of at most ${MAX_PATTERN_INPUT_CHARS} characters`, got: 'a longer string' }
  const unlike = { expected, got: 'a string that does not' }
  const tooSlow = { expected, got: 'a string that takes too long to match' }
  return value => {
    if (typeof value !== 'string') return undefined
    if (value.length > MAX_PATTERN_INPUT_CHARS) return tooLong
    const isMatch = match(value)
    if (isMatch === undefined) return tooSlow
    return isMatch ? undefined : unlike
  }
}

const compiles = (compile: () => unknown): string | undefined => {
  try {
    compile()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'invalid'
  }
}

const refusePattern = (type: ParameterType, pattern: string): string | undefined => {
  if (type !== 'string' && type !== 'url')
    return `only parameters of type string or url can have a pattern, and this one has type ${type}`
  if (pattern.length > MAX_PATTERN_CHARS) return `the pattern is longer than ${MAX_PATTERN_CHARS} characters`
  let instructions = 0
  const here = compiles(() => {
    instructions = RE2JS.compile(pattern).programSize()
  })
  if (here !== undefined)
    return `the pattern cannot be used: ${here} (look-around and back-references are not supported)`
  if (instructions > MAX_PATTERN_INSTRUCTIONS)
    return `the pattern is too complex: with its repetitions expanded it has ${instructions} instructions, and the limit is ${MAX_PATTERN_INSTRUCTIONS}`
  // Clients compile the pattern from the input schema, and JSON Schema requires ECMA-262 with the flag `u`.
  const there = compiles(() => new RegExp(pattern, 'u'))
  return there === undefined ? undefined : `clients cannot compile the pattern: ${there}`
}

const refuseRange = (type: ParameterType, meta: ParameterMeta, key: 'minimum' | 'maximum'): string | undefined => {
  const { minimum, maximum } = meta
  if (meta[key] === undefined) return undefined
  if (type !== 'integer' && type !== 'number')
    return `only parameters of type integer or number can have a ${key}, and this one has type ${type}`
  if (!Number.isFinite(meta[key])) return `the ${key} must be a finite number`
  const isCrossed = key === 'minimum' && maximum !== undefined && minimum !== undefined && minimum > maximum
  return isCrossed ? 'the minimum is greater than the maximum' : undefined
}

const refuseEnum = (type: ParameterType, values: readonly JsonValue[]): string | undefined => {
  if (values.length === 0) return 'an enum needs at least one value'
  const odd = values.findIndex(value => {
    const cast = castValue(type, value)
    return !cast.ok || !isDeepStrictEqual(cast.value, value)
  })
  return odd === -1 ? undefined : `value ${odd + 1} of the enum is not ${EXPECTED[type]}`
}

const problemsOf = (type: ParameterType, meta: ParameterMeta): readonly MetaProblem[] => {
  const refusals = [
    ['enum', meta.enum && refuseEnum(type, meta.enum)],
    ['minimum', refuseRange(type, meta, 'minimum')],
    ['maximum', refuseRange(type, meta, 'maximum')],
    ['pattern', meta.pattern === undefined ? undefined : refusePattern(type, meta.pattern)],
  ] as const
  return refusals.flatMap(([key, message]) => (message === undefined ? [] : [{ key, message }]))
}

const rulesOf = (type: ParameterType, meta: ParameterMeta): readonly Rule[] => [
  ...(meta.enum === undefined ? [] : [enumRule(meta.enum)]),
  ...rangeRules(type, meta),
  ...(meta.pattern === undefined ? [] : [patternRule(meta.pattern)]),
]

const checkFor = (type: ParameterType, meta: ParameterMeta): ParameterCheck => {
  let rules: readonly Rule[] | undefined
  return (value, from = 'caller') => {
    const cast = castValue(type, value, from)
    if (!cast.ok) return cast
    // Built when the first value arrives, because most tools of a server are never called.
    rules ??= rulesOf(type, meta)
    for (const rule of rules) {
      const mismatch = rule(cast.value)
      if (mismatch !== undefined) return failure(mismatch)
    }
    return cast
  }
}

/** Compiles a parameter's metadata into a single check, or returns what is invalid. */
export const compileParameterCheck = (
  type: ParameterType,
  meta: ParameterMeta,
): Result<ParameterCheck, readonly MetaProblem[]> => {
  const problems = problemsOf(type, meta)
  if (problems.length > 0) return failure(problems)
  const check = checkFor(type, meta)
  const refused = (['default', 'example'] as const).flatMap(key => {
    const value = meta[key]
    const checked = value === undefined ? success(null) : check(value)
    return checked.ok
      ? []
      : [{ key, message: `the ${key} must be ${checked.error.expected}, got ${checked.error.got}` }]
  })
  return refused.length > 0 ? failure(refused) : success(check)
}

/** A parameter and its metadata. A default from the metadata is already set on the parameter. */
export type CheckedParameter = { parameter: TemplateParameter; meta: ParameterMeta; check: ParameterCheck }

const mergeDefault = (parameter: TemplateParameter, meta: ParameterMeta, check: ParameterCheck): TemplateParameter => {
  const value = meta.default === undefined ? undefined : check(meta.default)
  return value?.ok ? { ...parameter, required: false, default: value.value } : parameter
}

const checkOne = (
  parameter: TemplateParameter,
  meta: ParameterMeta,
): Result<CheckedParameter, readonly MetaProblem[]> => {
  const { type } = parameter
  if (parameter.default !== undefined && meta.default !== undefined) {
    return failure([{ key: 'default', message: 'the template already has a default for it. Remove one of the two' }])
  }
  const check = compileParameterCheck(
    type,
    parameter.default === undefined ? meta : { ...meta, default: parameter.default },
  )
  return check.ok ? success({ parameter: mergeDefault(parameter, meta, check.value), meta, check: check.value }) : check
}

/**
 * Merges a template's parameters with their metadata, in the template's order. Error paths name the parameter, as in
 * `parameters.limit.minimum`.
 */
export const compileParameters = (
  parameters: readonly TemplateParameter[],
  metas: Readonly<Record<string, ParameterMeta>>,
): Result<readonly CheckedParameter[], readonly FieldError[]> => {
  const errors: FieldError[] = []
  const checked: CheckedParameter[] = []
  const startedAt = performance.now()
  for (const parameter of parameters) {
    const { name } = parameter
    // Patterns come from untrusted users, and compiling them blocks the event loop.
    if (performance.now() - startedAt > MAX_PARAMETERS_MS) {
      const message = `${name}: the parameters take too long to check. Simplify their patterns`
      return failure([...errors, { path: `parameters.${name}`, message }])
    }
    const one = checkOne(parameter, Object.hasOwn(metas, name) ? (metas[name] ?? {}) : {})
    if (one.ok) checked.push(one.value)
    else {
      errors.push(
        ...one.error.map(({ key, message }) => ({ path: `parameters.${name}.${key}`, message: `${name}: ${message}` })),
      )
    }
  }
  const known = new Set(parameters.map(({ name }) => name))
  for (const name of Object.keys(metas)) {
    if (!known.has(name))
      errors.push({ path: `parameters.${name}`, message: `the template has no parameter named "${name}"` })
  }
  return errors.length > 0 ? failure(errors) : success(checked)
}
