import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, type JsonValue, toJsonObject } from '../../lib/kernel/json.ts'
import type { DefaultBinding } from '../../templates/check-value.ts'
import { readTemplate } from '../../templates/compile.ts'
import type { ToolDefinition } from '../../tools/tool.ts'

/** A change after which calls that worked before may fail. `parameter` is undefined if it concerns the whole tool. */
export type BreakingChange = { parameter: string | undefined; message: string }

/** A parameter as callers see it. */
type Shown = { isRequired: boolean; schema: JsonObject }

/** Nested schemas are compared up to this depth. */
const MAX_DEPTH = 10

const typeOf = (type: string): JsonObject => (type === 'json' ? {} : { type: type === 'url' ? 'string' : type })

/** Returns the parameters whose values come from the model. */
const shownParameters = (tool: ToolDefinition): ReadonlyMap<string, Shown> => {
  const shown = new Map<string, Shown>()
  for (const { name, type, required } of readTemplate(tool).parameters) {
    const { schema = {}, binding, default: preset, ...meta } = tool.parameters[name] ?? {}
    if (binding !== undefined) continue
    const { enum: values, minimum, maximum, pattern } = meta
    // Without the rules that are undefined, which would replace those of the schema.
    const rules = toJsonObject({ enum: values, minimum, maximum, pattern })
    shown.set(name, {
      isRequired: required && preset === undefined,
      schema: { ...typeOf(type), ...schema, ...rules },
    })
  }
  return shown
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]

const isTypeNarrower = (before: JsonObject, now: JsonObject): boolean => {
  if (now.type === undefined) return false
  const allowed = listOf(now.type)
  const isAllowed = (type: JsonValue): boolean =>
    allowed.includes(type) || (type === 'integer' && allowed.includes('number'))
  return before.type === undefined || !listOf(before.type).every(isAllowed)
}

const lostValues = (before: JsonObject, now: JsonObject): readonly JsonValue[] => {
  const allowed = listOf(now.enum)
  if (now.enum === undefined) return []
  return listOf(before.enum).filter(value => !allowed.some(one => isDeepStrictEqual(one, value)))
}

const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']

const boundOf = (schema: JsonObject, key: string, none: number): number => {
  const value = schema[key]
  return typeof value === 'number' ? value : none
}

const isRangeNarrower = (before: JsonObject, now: JsonObject): boolean =>
  LOWER.some(key => boundOf(now, key, -Infinity) > boundOf(before, key, -Infinity)) ||
  UPPER.some(key => boundOf(now, key, Infinity) < boundOf(before, key, Infinity))

/** Returns what a value that was allowed before may be refused for, as the ends of sentences. */
const narrowings = (before: JsonObject, now: JsonObject, depth = 0): readonly string[] => {
  if (depth > MAX_DEPTH || isDeepStrictEqual(before, now)) return []
  const lost = lostValues(before, now)
  const required = listOf(now.required).filter(name => !listOf(before.required).includes(name))
  return [
    ...(isTypeNarrower(before, now) ? ['has another type'] : []),
    ...(lost.length > 0 ? [`no longer accepts ${lost.map(value => JSON.stringify(value)).join(', ')}`] : []),
    ...(before.enum === undefined && now.enum !== undefined ? ['accepts only some values now'] : []),
    ...(isRangeNarrower(before, now) ? ['has a narrower range'] : []),
    ...(now.pattern !== undefined && now.pattern !== before.pattern ? ['has another pattern'] : []),
    ...required.map(name => `now requires its member ${JSON.stringify(name)}`),
    ...nestedNarrowings(before, now, depth),
  ]
}

const nestedNarrowings = (before: JsonObject, now: JsonObject, depth: number): readonly string[] => {
  const pairs: (readonly [string, JsonValue | undefined, JsonValue | undefined])[] = [
    ['in its items, ', before.items, now.items],
  ]
  const [old, current] = [before.properties, now.properties]
  if (isJsonObject(old) && isJsonObject(current)) {
    for (const name of Object.keys(old)) pairs.push([`in its member "${name}", `, old[name], current[name]])
  }
  return pairs.flatMap(([where, one, other]) =>
    isJsonObject(one) && isJsonObject(other) ? narrowings(one, other, depth + 1).map(text => where + text) : [],
  )
}

const changesOf = (name: string, before: Shown, now: Shown): readonly string[] => [
  ...(!before.isRequired && now.isRequired ? [`The parameter "${name}" is required now.`] : []),
  ...narrowings(before.schema, now.schema).map(text => `The parameter "${name}" ${text}.`),
]

/** Returns the default bindings of the parameters that each request needs, by parameter. */
const neededDefaults = (tool: ToolDefinition): ReadonlyMap<string, DefaultBinding> =>
  new Map(
    readTemplate(tool).parameters.flatMap(({ name, required }) => {
      const binding = tool.parameters[name]?.binding
      return required && binding !== undefined ? [[name, binding] as const] : []
    }),
  )

/** Returns the values that servers need now to call the tool, as changes. */
const neededValues = (
  before: ToolDefinition,
  now: ToolDefinition,
  hasValue: (key: string) => boolean,
): readonly BreakingChange[] => {
  const known = neededDefaults(before)
  return [...neededDefaults(now)].flatMap(([parameter, binding]): BreakingChange[] => {
    if (binding.source !== 'server' || known.has(parameter)) return []
    const { key, secret = false } = binding
    if (!secret && hasValue(key)) return []
    return [{ parameter, message: `It needs the ${secret ? 'secret' : 'global'} "${key}" now.` }]
  })
}

/**
 * Returns what callers of a tool notice when it is replaced. `hasValue` returns whether there is a value for a global that
 * is not secret; if not, calls fail until somebody enters it.
 */
export const findBreakingChanges = (
  before: ToolDefinition,
  now: ToolDefinition,
  hasValue: (key: string) => boolean = () => true,
): readonly BreakingChange[] => {
  const old = shownParameters(before)
  const current = shownParameters(now)
  const ofParameters = [...old].flatMap(([parameter, shown]): BreakingChange[] => {
    const other = current.get(parameter)
    if (other === undefined) return [{ parameter, message: `The parameter "${parameter}" was removed.` }]
    return changesOf(parameter, shown, other).map(message => ({ parameter, message }))
  })
  const added = [...current].flatMap(([parameter, { isRequired }]): BreakingChange[] =>
    old.has(parameter) || !isRequired ? [] : [{ parameter, message: `The new parameter "${parameter}" is required.` }],
  )
  const renamed =
    before.name === now.name ? [] : [{ parameter: undefined, message: `The tool is now named "${now.name}".` }]
  return [...renamed, ...ofParameters, ...added, ...neededValues(before, now, hasValue)]
}
