import type { JsonObject, JsonValue } from '../lib/kernel/json.ts'
import type { ParameterMeta } from './check-value.ts'
import { acceptedTypes, type ListType } from './lists/serialize.ts'
import { embedSchema } from './parameter-schema.ts'
import type { ParameterType, TemplateParameter } from './template.ts'

/** A `json` parameter accepts any JSON value. */
const TYPE_SCHEMAS: Readonly<Record<ParameterType, JsonObject>> = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  json: {},
  url: { type: 'string', format: 'uri' },
}

/** Any member is allowed. Clients reject an array without `items`. */
const LIST_SCHEMAS: Readonly<Record<ListType, JsonObject>> = {
  array: { type: 'array', items: {} },
  object: { type: 'object' },
}

/** Returns the schema of the parameter's type, unless its `own` schema chooses one of the types. */
const typeSchemaOf = ({ type, places }: TemplateParameter, own: JsonObject): JsonObject => {
  const accepted = acceptedTypes(places)
  if (accepted === undefined) return TYPE_SCHEMAS[type]
  const [first = {}, ...others] = own.type === undefined ? accepted.map(one => LIST_SCHEMAS[one]) : []
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}

export type DescribedParameter = { parameter: TemplateParameter; meta: ParameterMeta }

const schemaOf = ({ parameter, meta }: DescribedParameter): JsonObject => {
  const annotations: Record<string, JsonValue | undefined> = {
    description: meta.description,
    enum: meta.enum === undefined ? undefined : [...meta.enum],
    default: parameter.default === undefined ? meta.default : parameter.default,
    examples: meta.example === undefined ? undefined : [meta.example],
    minimum: meta.minimum,
    maximum: meta.maximum,
    pattern: meta.pattern,
  }
  const own = meta.schema === undefined ? {} : embedSchema(meta.schema, parameter.name)
  const schema = { ...typeSchemaOf(parameter, own), ...own }
  for (const [key, value] of Object.entries(annotations)) if (value !== undefined) schema[key] = value
  return schema
}

/**
 * Returns the JSON Schema (2020-12) of a tool's arguments, with one property for each parameter, in the same order, and
 * no others. Omits an empty `required`, because older drafts do not allow it.
 */
export const inputSchemaOf = (parameters: readonly DescribedParameter[]): JsonObject => {
  const required = parameters
    .filter(({ parameter, meta }) => parameter.required && meta.default === undefined)
    .map(({ parameter }) => parameter.name)
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(described => [described.parameter.name, schemaOf(described)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}
