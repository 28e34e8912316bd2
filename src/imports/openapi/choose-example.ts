import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { castValue } from '../../templates/check-value.ts'
import type { ParameterType } from '../../templates/template.ts'
import type { NamedParameter } from '../../tools/secret-parameters.ts'
import { MAX_EXAMPLE_CHARS } from '../limits.ts'
import { fitsSchema } from '../schemas/fits-schema.ts'
import { mayHoldSecret, readJsonText } from './secret-examples.ts'
import { holdsSecret } from './texts.ts'

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** Generators of descriptions write the name of the parameter or of its type where they know no value. */
const saysNothing = (value: JsonValue, { name }: NamedParameter): boolean =>
  value === null ||
  value === '' ||
  value === 'string' ||
  (typeof value === 'string' && lettersOf(value) === lettersOf(name))

/** Descriptions often have the example of a list or an object as it is sent, or as JSON. */
const toDeclared = (given: JsonValue, { type }: JsonObject): JsonValue => {
  const value = readJsonText(given)
  if (type !== 'array' || Array.isArray(value) || isJsonObject(value)) return value
  return typeof value === 'string' ? value.split(',').map(item => item.trim()) : [value]
}

const castExample = (type: ParameterType, value: JsonValue, schema: JsonObject): JsonValue | undefined => {
  if (type === 'json') return toDeclared(value, schema)
  const cast = castValue(type, value, 'text')
  return cast.ok ? cast.value : undefined
}

/**
 * Returns the first of the values that a parameter of this type and schema accepts, if it is short. Undefined if there is
 * none. Examples that may be secrets are never returned.
 */
export const chooseExample = (
  values: Iterable<JsonValue>,
  type: ParameterType,
  schema: JsonObject,
  named: NamedParameter,
): JsonValue | undefined => {
  for (const value of values) {
    const text = saysNothing(value, named) ? undefined : JSON.stringify(value)
    if (text === undefined || text.length > MAX_EXAMPLE_CHARS || holdsSecret(text) || mayHoldSecret(named, value))
      continue
    const example = castExample(type, value, schema)
    if (example !== undefined && fitsSchema(example, schema)) return example
  }
  return undefined
}
