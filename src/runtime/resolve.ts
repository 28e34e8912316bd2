import { isJsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { bindingOf, fillFixedValue } from '../servers/bindings/bindings.ts'
import type { Bindings } from '../servers/server.ts'
import type { CheckedParameter } from '../templates/parameter-check.ts'
import type { Values } from '../templates/template.ts'
import type { CompiledDefinition } from '../tools/tool-definition.ts'
import { boundError } from './call/tool-result.ts'
import type { OpenedGlobals } from './opened-globals.ts'

/** The source of each parameter's value in an instance. Values that do not come from the model are constants. */
export type ResolutionPlan = {
  constants: readonly (readonly [name: string, value: JsonValue])[]
  exposed: ReadonlyMap<string, CheckedParameter>
  /** Why every call fails, whatever its arguments. Defined if a bound value is missing or invalid. */
  problem: string | undefined
}

class MissingGlobal extends Error {
  readonly key: string
  constructor(key: string) {
    super(key)
    this.key = key
  }
}

const fixedValue = (
  bound: CheckedParameter,
  bindings: Bindings,
  globals: OpenedGlobals['values'],
): JsonValue | undefined => {
  const readGlobal = (key: string): string => {
    const value = globals.get(key)
    if (value === undefined) throw new MissingGlobal(key)
    return value
  }
  const { name } = bound.parameter
  const binding = bindingOf(bindings, name)
  switch (binding.source) {
    case 'instance':
      return fillFixedValue(bound, binding.value, readGlobal)
    case 'server':
      return readGlobal(binding.key ?? name)
    case 'exposed':
      return undefined
  }
}

const resolveConstant = (
  bound: CheckedParameter,
  bindings: Bindings,
  globals: OpenedGlobals['values'],
): Result<JsonValue, string> => {
  const { name } = bound.parameter
  try {
    const checked = bound.check(fixedValue(bound, bindings, globals) ?? null, 'text')
    if (checked.ok) return checked
    const { expected, got } = checked.error
    return failure(`The value bound to "${name}" must be ${expected}, and is ${got}. Change the binding or the global.`)
  } catch (error) {
    if (!(error instanceof MissingGlobal)) throw error
    return failure(
      `The global "${error.key}", which "${name}" is bound to, does not exist on this server. Create it again.`,
    )
  }
}

export const planResolution = (
  { parameters }: CompiledDefinition,
  bindings: Bindings,
  globals: OpenedGlobals['values'],
): ResolutionPlan => {
  const constants: [string, JsonValue][] = []
  const exposed = new Map<string, CheckedParameter>()
  const problems: string[] = []
  for (const checked of parameters) {
    const { name } = checked.parameter
    if (bindingOf(bindings, name).source === 'exposed') {
      exposed.set(name, checked)
      continue
    }
    const constant = resolveConstant(checked, bindings, globals)
    if (constant.ok) constants.push([name, constant.value])
    else problems.push(constant.error)
  }
  return { constants, exposed, problem: problems.length === 0 ? undefined : problems.join('\n') }
}

/** Limits for the names in an error message, because callers can send any number of arguments. */
const MAX_UNKNOWN_NAMES = 5
const MAX_KNOWN_NAMES = 20
const NAME_CHARACTERS = 64

const quoteName = (name: string): string => `"${name.slice(0, NAME_CHARACTERS)}"`

const hintOf = (exposed: ResolutionPlan['exposed']): string => {
  if (exposed.size === 0) return 'this tool takes no arguments'
  const listed = [...exposed.keys()].slice(0, MAX_KNOWN_NAMES).map(quoteName).join(', ')
  const more = exposed.size - MAX_KNOWN_NAMES
  return `this tool takes ${listed}${more > 0 ? ` and ${more} more` : ''}`
}

/**
 * Returns one error line for each unknown name, up to a limit, and one line for the rest. The first line also lists the
 * valid parameters.
 */
const refuseUnknown = (args: object, exposed: ResolutionPlan['exposed']): readonly string[] => {
  const unknown = Object.keys(args).filter(name => !exposed.has(name))
  const lines = unknown
    .slice(0, MAX_UNKNOWN_NAMES)
    .map((name, index) => `There is no parameter ${quoteName(name)}${index === 0 ? `: ${hintOf(exposed)}` : ''}.`)
  const more = unknown.length - MAX_UNKNOWN_NAMES
  return more > 0 ? [...lines, `${more} more arguments are also unknown.`] : lines
}

/** Time limit for matching all patterns of a call, because matching blocks the event loop. */
const MAX_PATTERNS_MS = 100
const TAKES_TOO_LONG = "The arguments take too long to match against this tool's patterns. Send shorter ones."

/**
 * Resolves the values of a call from its arguments. Errors name the parameters that are invalid,
 * missing or unknown, but never contain a value.
 */
export const resolveCall = (plan: ResolutionPlan, args: JsonValue | undefined): Result<Values, string> => {
  if (plan.problem !== undefined) return failure(plan.problem)
  const given = args ?? {}
  if (!isJsonObject(given)) return failure('The arguments must be an object that maps parameter names to values.')
  const errors = [...refuseUnknown(given, plan.exposed)]
  const values = new Map<string, JsonValue>(plan.constants)
  let matchedSince: number | undefined
  for (const [name, { parameter, meta, check }] of plan.exposed) {
    const argument = Object.hasOwn(given, name) ? given[name] : undefined
    // Models send null for arguments they omit. Null is a valid value only for `json` parameters.
    if (argument === undefined || (argument === null && parameter.type !== 'json')) {
      if (parameter.default !== undefined) values.set(name, parameter.default)
      else if (parameter.required) errors.push(`"${name}" is missing: it must be ${describe(parameter.type)}.`)
      continue
    }
    if (meta.pattern !== undefined) {
      matchedSince ??= performance.now()
      if (performance.now() - matchedSince > MAX_PATTERNS_MS) return failure(TAKES_TOO_LONG)
    }
    const checked = check(argument, 'caller')
    if (checked.ok) values.set(name, checked.value)
    else errors.push(`"${name}" must be ${checked.error.expected}, and is ${checked.error.got}.`)
  }
  return errors.length === 0 ? success(values) : failure(boundError(errors.join('\n')))
}

const describe = (type: string): string => (type === 'integer' ? 'an integer' : type === 'json' ? 'JSON' : `a ${type}`)
