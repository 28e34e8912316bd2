import { isDeepStrictEqual } from 'node:util'
import { RE2JS } from 're2js'
import type { FieldError } from '../lib/kernel/errors.ts'
import type { JsonValue } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { castValue, checkFor, EXPECTED, type ParameterCheck, type ParameterMeta, secretKeyOf } from './check-value.ts'
import { MAX_PARAMETERS_MS, MAX_PATTERN_CHARS, MAX_PATTERN_INSTRUCTIONS } from './limits.ts'
import { acceptedTypes, type ListType } from './lists/serialize.ts'
import { refuseSchema } from './parameter-schema.ts'
import type { ParameterType, TemplateParameter } from './template.ts'

type MetaProblem = { key: keyof ParameterMeta | 'binding.value'; message: string }

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

const SECRET_IN_LIST =
  'a secret cannot be a part of a list, because it may be split and then not be masked. Give the secret a placeholder of its own'

const problemsOf = (
  type: ParameterType,
  meta: ParameterMeta,
  accepted: readonly ListType[] | undefined,
): readonly MetaProblem[] => {
  const refusals = [
    ['enum', meta.enum && refuseEnum(type, meta.enum)],
    ['minimum', refuseRange(type, meta, 'minimum')],
    ['maximum', refuseRange(type, meta, 'maximum')],
    ['pattern', meta.pattern === undefined ? undefined : refusePattern(type, meta.pattern)],
    ['schema', meta.schema && refuseSchema(type, meta, accepted)],
    ['binding', accepted !== undefined && secretKeyOf(meta.binding) !== undefined ? SECRET_IN_LIST : undefined],
  ] as const
  return refusals.flatMap(([key, message]) => (message === undefined ? [] : [{ key, message }]))
}

/** Returns whether a fixed value contains no global, and so is known before the tool is on a server. */
export const isKnownValue = (value: JsonValue): boolean => !JSON.stringify(value).includes('{{')

const refuseFixedValue = ({ binding }: ParameterMeta, check: ParameterCheck): readonly MetaProblem[] => {
  if (binding?.source !== 'instance' || !isKnownValue(binding.value)) return []
  const checked = check(binding.value, 'text')
  if (checked.ok) return []
  const message = `the fixed value must be ${checked.error.expected}, got ${checked.error.got}`
  return [{ key: 'binding.value', message }]
}

/**
 * Compiles a parameter's metadata into a single check, or returns what is invalid. `accepted` are the types that its
 * serializations accept.
 */
export const compileParameterCheck = (
  type: ParameterType,
  meta: ParameterMeta,
  accepted?: readonly ListType[] | undefined,
): Result<ParameterCheck, readonly MetaProblem[]> => {
  const problems = problemsOf(type, meta, accepted)
  if (problems.length > 0) return failure(problems)
  const check = checkFor(type, meta, accepted)
  const ofValues = (['default', 'example'] as const).flatMap(key => {
    const value = meta[key]
    const checked = value === undefined ? success(null) : check(value)
    return checked.ok
      ? []
      : [{ key, message: `the ${key} must be ${checked.error.expected}, got ${checked.error.got}` }]
  })
  const refused = [...ofValues, ...refuseFixedValue(meta, check)]
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
    acceptedTypes(parameter.places),
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
