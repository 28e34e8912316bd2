import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { type Path, renderPath } from '../../lib/json/path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { MASK } from '../../lib/kernel/mask.ts'
import { isOpenObject } from './listed-output-schema.ts'

/** Part of a value that matches a schema. */
export type Trimmed = {
  /** What is left of the value. Undefined if leaving out members does not make it match. */
  value?: JsonValue
  /** What does not match, such as `items[].name must be string`. */
  mismatches: readonly string[]
  /** Those of `mismatches` that are not about a text with a masked part, which might match without its mask. */
  unmasked: readonly string[]
}

/** Each round leaves out what the last one found. A missing member can make the object around it fail, and so on. */
const MAX_ROUNDS = 20
/** Maximum number of mismatches that are listed. */
const MAX_LISTED = 10

type Steps = readonly string[]

const readPointer = (pointer: string): Steps =>
  pointer
    .split('/')
    .slice(1)
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Returns where an error is: at the member that must not be there, or at what its message is about. */
const placeOf = ({ instancePath, params, propertyName }: ErrorObject): Steps => {
  const extra: unknown = propertyName ?? params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName
  const place = readPointer(instancePath)
  return typeof extra === 'string' ? [...place, extra] : place
}

const stepInto = (value: JsonValue | undefined, step: string): JsonValue | undefined => {
  if (Array.isArray(value)) return value[Number(step)]
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

/** Returns the last member of an object on the way to a place. An item of an array is not left out by itself. */
const memberAt = (root: JsonValue, place: Steps): { object: JsonObject; name: string } | undefined => {
  let value: JsonValue | undefined = root
  let member: { object: JsonObject; name: string } | undefined
  for (const name of place) {
    if (isJsonObject(value)) member = { object: value, name }
    value = stepInto(value, name)
  }
  return member
}

/** Writes a place as a path, with `[]` for each item of an array. */
const renderPlace = (root: JsonValue, place: Steps): string => {
  let value: JsonValue | undefined = root
  const path: Path = place.map(name => {
    const step = Array.isArray(value) ? ({ kind: 'items' } as const) : ({ kind: 'member', name } as const)
    value = stepInto(value, name)
    return step
  })
  return path.length === 0 ? 'it' : renderPath(path)
}

/** Leaves out the errors of the branches of a union, because one error says that none of them matches. */
const withoutBranches = (errors: readonly ErrorObject[]): readonly ErrorObject[] => {
  const isUnion = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf'
  const unions = new Set(errors.filter(isUnion).map(({ instancePath }) => instancePath))
  const isInside = (pointer: string): boolean =>
    unions.has(pointer) || (pointer !== '' && isInside(pointer.slice(0, pointer.lastIndexOf('/'))))
  return unions.size === 0 ? errors : errors.filter(error => isUnion(error) || !isInside(error.instancePath))
}

const isMasked = (root: JsonValue, { instancePath }: ErrorObject): boolean => {
  const value = readPointer(instancePath).reduce<JsonValue | undefined>(stepInto, root)
  return typeof value === 'string' && value.includes(MASK)
}

const describe = (root: JsonValue, errors: readonly ErrorObject[]): string[] => {
  const texts = new Set<string>()
  for (const error of withoutBranches(errors)) {
    if (texts.size === MAX_LISTED) break
    const isExtra = placeOf(error).length > readPointer(error.instancePath).length
    const fault = isExtra ? 'is not in the schema' : (error.message ?? 'does not match the schema')
    texts.add(`${renderPlace(root, placeOf(error))} ${fault}`)
  }
  return [...texts]
}

/**
 * Leaves out the members of a value that do not match a schema. `validate` must find all errors. Returns undefined if
 * the value matches. At the root, required members may be missing, because clients see a schema without them
 * (`toListedOutputSchema`). Does not change the value. Takes as long as validating it several times.
 */
export const trimValue = (validate: ValidateFunction, schema: JsonObject, value: JsonValue): Trimmed | undefined => {
  const isOpen = isOpenObject(schema)
  const mayStay = ({ keyword, instancePath, schemaPath }: ErrorObject): boolean =>
    isOpen && keyword === 'required' && instancePath === '' && schemaPath === '#/required'
  if (validate(value) === true) return undefined
  const left = structuredClone(value)
  const found = validate.errors ?? []
  const mismatches = describe(left, found)
  const unmasked = describe(
    left,
    found.filter(error => !isMasked(left, error)),
  )
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const errors = (validate.errors ?? []).filter(error => !mayStay(error))
    if (errors.length === 0) return { value: left, mismatches, unmasked }
    const members = errors.map(error => memberAt(left, placeOf(error)))
    for (const member of members) {
      if (member === undefined) return { mismatches, unmasked }
      delete member.object[member.name]
    }
    if (validate(left) === true) return { value: left, mismatches, unmasked }
  }
  return { mismatches, unmasked }
}
