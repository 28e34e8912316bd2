import type { JsonValue } from '../lib/kernel/json.ts'
import { castValue } from './check-value.ts'
import { MAX_PARAMETERS, MAX_PLACES } from './limits.ts'
import { acceptedTypes, type ListType } from './lists/serialize.ts'
import { canBeMissing, type Field, type Hole } from './plan.ts'
import type { ScannedPlace } from './scan.ts'
import type { Place, TemplateError, TemplateParameter } from './template.ts'

/** A placeholder with its position and encoding. `hole` is undefined where placeholders are not allowed. */
type Use = { syntax: ScannedPlace; hole: Hole | undefined; place: Place }

const usesOf = ({ field, scan, plan }: Field): readonly Use[] =>
  scan.places.flatMap((syntax, index) => {
    const hole = plan.holes[index]
    if (syntax.isBroken) return []
    const name = plan.names?.[index]
    const { serialization } = syntax
    const place = {
      kind: hole?.kind ?? 'text',
      ...(name !== undefined && { name }),
      ...(serialization !== undefined && { serialization }),
      field,
      ...scan.locate(syntax.offset),
    }
    return [{ syntax, hole, place }]
  })

const where = ({ field, line, column }: Place): string => `${field}, line ${line}, column ${column}`

const errorAt = ({ place: { field, line, column } }: Use, message: string): TemplateError => ({
  field,
  line,
  column,
  message,
})

const checkSameType = (first: Use, others: readonly Use[]): readonly TemplateError[] => {
  const { name, type } = first.syntax
  const other = others.find(use => use.syntax.type !== type)
  if (other === undefined) return []
  const places = `${type} in ${where(first.place)}, but ${other.syntax.type} in ${where(other.place)}`
  return [errorAt(other, `"${name}" is ${places}. Use the same type everywhere`)]
}

/** Reports serializations of the same parameter that accept no value in common, such as an array and an object. */
const checkSameList = (uses: readonly Use[]): readonly TemplateError[] => {
  const findOnly = (type: ListType): Use | undefined =>
    uses.find(({ place }) => acceptedTypes([place])?.every(accepted => accepted === type))
  const array = findOnly('array')
  const object = findOnly('object')
  if (array === undefined || object === undefined) return []
  const describe = ({ place }: Use): string => `"${place.serialization}" in ${where(place)}`
  const message = `"${array.syntax.name}" must be an array for ${describe(array)}, but an object for ${describe(object)}`
  return [errorAt(object, `${message}. Use two parameters`)]
}

const isAllowed = ({ hole, syntax }: Use, value: JsonValue): boolean =>
  hole === undefined || (hole.isEmpty?.(value) ? syntax.optional : hole.encode(value) !== undefined)

const checkDefaults = (uses: readonly Use[], value: JsonValue | undefined): readonly TemplateError[] => {
  const given = uses.filter(use => use.syntax.defaultText !== undefined)
  const [first] = given
  if (first === undefined) return []
  const { name, type, defaultText } = first.syntax
  const other = given.find(use => use.syntax.defaultText !== defaultText)
  if (other !== undefined) {
    const places = `${where(first.place)} and ${where(other.place)}`
    return [errorAt(other, `"${name}" has two defaults, in ${places}. Remove one of them`)]
  }
  if (value === undefined) {
    const cast = castValue(type, defaultText ?? '', 'text')
    const reason = cast.ok ? '' : `must be ${cast.error.expected}, got ${cast.error.got}`
    const hint = type === 'json' ? ' (it cannot contain "}}"; set such a default in the parameters instead)' : ''
    return [errorAt(first, `the default of "${name}" ${reason}${hint}`)]
  }
  return uses
    .filter(use => !isAllowed(use, value))
    .map(use => {
      const reason = use.hole?.isEmpty?.(value) ? 'must not be empty. Write "?" instead' : use.hole?.refusal
      return errorAt(use, `the default of "${name}" ${reason}`)
    })
}

const checkOptional = (uses: readonly Use[]): readonly TemplateError[] =>
  uses
    .filter(({ hole }) => hole !== undefined && !canBeMissing(hole.kind))
    .map(use => {
      const { name } = use.syntax
      return errorAt(use, `"${name}" cannot be optional here. Remove the "?", or add a default in the template`)
    })

const defaultOf = (uses: readonly Use[]): JsonValue | undefined => {
  const syntax = uses.find(use => use.syntax.defaultText !== undefined)?.syntax
  if (syntax?.defaultText === undefined) return undefined
  const cast = castValue(syntax.type, syntax.defaultText, 'text')
  return cast.ok ? cast.value : undefined
}

type Collected = { parameter: TemplateParameter; errors: readonly TemplateError[] }

const collect = (first: Use, uses: readonly Use[]): Collected => {
  const { name, type } = first.syntax
  const value = defaultOf(uses)
  const required = value === undefined && uses.some(use => !use.syntax.optional)
  const typeErrors = checkSameType(first, uses)
  const isOptional = value === undefined && uses.every(use => use.syntax.optional)
  return {
    parameter: {
      name,
      type,
      required,
      ...(value === undefined ? {} : { default: value }),
      places: uses.map(use => use.place),
    },
    errors: [
      ...typeErrors,
      ...checkSameList(uses),
      ...(typeErrors.length === 0 ? checkDefaults(uses, value) : []),
      ...(isOptional ? checkOptional(uses) : []),
    ],
  }
}

const checkCount = (use: Use | undefined, message: string): readonly TemplateError[] =>
  use === undefined ? [] : [errorAt(use, `${message}. Split this tool into several`)]

/**
 * Collects the parameters of all fields in order of first appearance, and reports placeholders of the same parameter
 * that contradict each other.
 */
export const collectParameters = (
  fields: readonly Field[],
): { parameters: readonly TemplateParameter[]; errors: readonly TemplateError[] } => {
  const all = fields.flatMap(usesOf)
  const groups = [...Map.groupBy(all, use => use.syntax.name).values()]
  const collected = groups.flatMap(uses => {
    const [first] = uses
    return first === undefined ? [] : [collect(first, uses)]
  })
  return {
    parameters: collected.map(({ parameter }) => parameter),
    errors: [
      ...collected.flatMap(({ errors }) => errors),
      ...checkCount(groups[MAX_PARAMETERS]?.[0], `more than ${MAX_PARAMETERS} parameters`),
      ...checkCount(all[MAX_PLACES], `more than ${MAX_PLACES} placeholders`),
    ],
  }
}
