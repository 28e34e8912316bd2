import { failure, isJsonObject, type JsonValue, type Result, success } from '../kernel/index.ts'
import { type Bindings, bindingOf, fillFixedValue } from '../servers/index.ts'
import type { CheckedParameter, Values } from '../templates/index.ts'
import type { CompiledDefinition } from '../toolkits/index.ts'

/** Where each parameter of one instance gets its value, worked out once: what is not exposed is a constant. */
export type ResolutionPlan = {
  constants: readonly (readonly [name: string, value: JsonValue])[]
  exposed: ReadonlyMap<string, CheckedParameter>
  /** Why no call can be resolved, whatever the arguments: a bound global is gone, or does not fit. */
  problem: string | undefined
}

/** Keys and plain values of a server's globals. */
export type GlobalValues = ReadonlyMap<string, string>

class MissingGlobal extends Error {
  readonly key: string
  constructor(key: string) {
    super(key)
    this.key = key
  }
}

const fixedValue = (compiled: CheckedParameter, bindings: Bindings, globals: GlobalValues): JsonValue | undefined => {
  const readGlobal = (key: string): string => {
    const value = globals.get(key)
    if (value === undefined) throw new MissingGlobal(key)
    return value
  }
  const { name } = compiled.parameter
  const binding = bindingOf(bindings, name)
  switch (binding.source) {
    case 'instance':
      return fillFixedValue(compiled, binding.value, readGlobal)
    case 'server':
      return readGlobal(binding.key ?? name)
    case 'exposed':
      return undefined
  }
}

const resolveConstant = (
  compiled: CheckedParameter,
  bindings: Bindings,
  globals: GlobalValues,
): Result<JsonValue, string> => {
  const { name } = compiled.parameter
  try {
    const checked = compiled.check(fixedValue(compiled, bindings, globals) ?? null, 'text')
    if (checked.ok) return checked
    const { expected, got } = checked.error
    return failure(`The value bound to "${name}" must be ${expected}, and is ${got}: mend the binding or the global.`)
  } catch (error) {
    if (!(error instanceof MissingGlobal)) throw error
    return failure(
      `The global "${error.key}", which "${name}" is bound to, does not exist on this server: set it again.`,
    )
  }
}

export const planResolution = (
  { parameters }: CompiledDefinition,
  bindings: Bindings,
  globals: GlobalValues,
): ResolutionPlan => {
  const constants: [string, JsonValue][] = []
  const exposed = new Map<string, CheckedParameter>()
  const problems: string[] = []
  for (const compiled of parameters) {
    const { name } = compiled.parameter
    if (bindingOf(bindings, name).source === 'exposed') {
      exposed.set(name, compiled)
      continue
    }
    const constant = resolveConstant(compiled, bindings, globals)
    if (constant.ok) constants.push([name, constant.value])
    else problems.push(constant.error)
  }
  return { constants, exposed, problem: problems.length === 0 ? undefined : problems.join('\n') }
}

/** How many names an error lists, and how much of each: arguments come from strangers, in any number and length. */
const MAX_UNKNOWN_NAMES = 5
const MAX_KNOWN_NAMES = 20
const NAME_CHARACTERS = 64
/** Longest text that says what is wrong with the arguments of a call. */
const MAX_ERROR_CHARACTERS = 4_000

const quoteName = (name: string): string => `"${name.slice(0, NAME_CHARACTERS)}"`

const hintOf = (exposed: ResolutionPlan['exposed']): string => {
  if (exposed.size === 0) return 'this tool takes no arguments'
  const listed = [...exposed.keys()].slice(0, MAX_KNOWN_NAMES).map(quoteName).join(', ')
  const more = exposed.size - MAX_KNOWN_NAMES
  return `this tool takes ${listed}${more > 0 ? ` and ${more} more` : ''}`
}

/** A line for each of the first unknown names, the first with what there is instead, and how many more there are. */
const refuseUnknown = (args: object, exposed: ResolutionPlan['exposed']): readonly string[] => {
  const unknown = Object.keys(args).filter(name => !exposed.has(name))
  const lines = unknown
    .slice(0, MAX_UNKNOWN_NAMES)
    .map((name, index) => `There is no parameter ${quoteName(name)}${index === 0 ? `: ${hintOf(exposed)}` : ''}.`)
  const more = unknown.length - MAX_UNKNOWN_NAMES
  return more > 0 ? [...lines, `Nor is there one for ${more} more arguments.`] : lines
}

/** An error about arguments, cut to what a model reads. */
export const boundError = (text: string): string =>
  (text.length > MAX_ERROR_CHARACTERS ? `${text.slice(0, MAX_ERROR_CHARACTERS)}…` : text).toWellFormed()

/** What the patterns of one call may take together: nobody else has a turn meanwhile. */
const MAX_PATTERNS_MS = 100
const TAKES_TOO_LONG = 'The arguments take too long to be matched with the patterns of this tool: send shorter ones.'

/** Values of one call out of its arguments; the error names what is wrong, missing or unknown, and no value. */
export const resolveCall = (plan: ResolutionPlan, args: JsonValue | undefined): Result<Values, string> => {
  if (plan.problem !== undefined) return failure(plan.problem)
  const given = args ?? {}
  if (!isJsonObject(given)) return failure('The arguments must be an object with a value by parameter name.')
  const errors = [...refuseUnknown(given, plan.exposed)]
  const values = new Map<string, JsonValue>(plan.constants)
  let matchedSince: number | undefined
  for (const [name, { parameter, meta, check }] of plan.exposed) {
    const argument = Object.hasOwn(given, name) ? given[name] : undefined
    // Models send null for what they leave out; only a json parameter can mean it.
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
