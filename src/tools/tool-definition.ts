import { isDeepStrictEqual } from 'node:util'
import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { MAX_TOOL_DEFINITION_BYTES, MAX_TOOL_SCHEMA_BYTES } from '../lib/kernel/limits.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { compileTemplate, refusedValues } from '../templates/compile.ts'
import { type CheckedParameter, compileParameters, isKnownValue } from '../templates/compile-parameters.ts'
import type { CompiledTemplate } from '../templates/template.ts'
import { paginationErrors } from './response/pagination.ts'
import { responseErrors } from './response/response-rules.ts'
import { retryErrors } from './retry-rules.ts'
import type { ToolDefinition } from './tool.ts'

export type CompiledDefinition = {
  template: CompiledTemplate
  parameters: readonly CheckedParameter[]
}

const templateErrors = (definition: ToolDefinition): Result<CompiledTemplate, FieldError[]> => {
  const compiled = compileTemplate(definition)
  if (compiled.ok) return compiled
  return failure(
    compiled.error.map(({ field, line, column, message }) => ({
      path: field,
      message: `line ${line}, column ${column}: ${message}`,
    })),
  )
}

/**
 * Checks that a custom input schema describes an object, names only parameters of the template, and is the only schema.
 * Does not compile it, because that may take seconds.
 */
const inputSchemaErrors = (schema: JsonObject, { parameters }: CompiledDefinition): FieldError[] => {
  const path = 'inputSchema'
  const own = parameters.find(({ meta }) => meta.schema !== undefined)?.parameter.name
  if (own !== undefined) {
    return [{ path, message: `replaces the schemas of all parameters, and "${own}" has one. Remove one of the two` }]
  }
  if (schema.type !== 'object') return [{ path, message: 'must be of the type "object"' }]
  const properties = isJsonObject(schema.properties) ? Object.keys(schema.properties) : []
  return properties
    .filter(name => parameters.every(({ parameter }) => parameter.name !== name))
    .map(name => ({ path: `${path}.properties.${name}`, message: `the template has no parameter named "${name}"` }))
}

type Declared = 'default' | 'binding.value'

/** Returns the values that parameters have by default, from the metadata. */
const declaredValues = (parameters: readonly CheckedParameter[], key: Declared): [string, JsonValue][] =>
  parameters.flatMap(({ parameter: { name, default: value }, meta: { binding, ...meta }, check }) => {
    if (key === 'default') return meta.default === undefined || value === undefined ? [] : [[name, value]]
    const fixed =
      binding?.source === 'instance' && isKnownValue(binding.value) ? check(binding.value, 'text') : undefined
    return fixed?.ok ? [[name, fixed.value]] : []
  })

/**
 * Reports defaults and fixed values that cannot be sent. Defaults in the template are already checked when it is
 * compiled.
 */
const declaredErrors = (definition: ToolDefinition, { parameters }: CompiledDefinition): FieldError[] =>
  (['default', 'binding.value'] as const).flatMap(key => {
    const values = declaredValues(parameters, key)
    if (values.length === 0) return []
    const what = key === 'default' ? 'default' : 'fixed value'
    return refusedValues(definition, new Map(values)).map(({ parameter, message }) => ({
      path: `parameters.${parameter}.${key}`,
      message: `${parameter}: the ${what} ${message}`,
    }))
  })

/** Only the result of a tool that the builder marked read-only may be cached, because a cached call has no effects. */
const cacheErrors = ({ cacheSeconds, annotations }: ToolDefinition): FieldError[] =>
  cacheSeconds === undefined || annotations?.readOnlyHint === true
    ? []
    : [
        {
          path: 'cacheSeconds',
          message: 'only applies to read-only tools. Set "Read-only" (readOnlyHint) to yes',
        },
      ]

/** Compiles a definition's template and parameters. Reports all errors at once. */
export const checkDefinition = (definition: ToolDefinition): Result<CompiledDefinition, readonly FieldError[]> => {
  const template = templateErrors(definition)
  if (!template.ok) return template
  const parameters = compileParameters(template.value.parameters, definition.parameters)
  if (!parameters.ok) return parameters
  return success({ template: template.value, parameters: parameters.value })
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Throws `invalid_request` if the definition is too large. Runs before any part of the definition is compiled. */
export const assertDefinitionSize = (definition: ToolDefinition): void => {
  const { inputSchema, outputSchema } = definition
  // Together, the schemas of the parameters are limited like the input schema that they are part of.
  const parameters = Object.values(definition.parameters).flatMap(({ schema = [] }) => schema)
  const schemas = Object.entries({ inputSchema, outputSchema, parameters })
  const tooLong = schemas.flatMap(([path, schema]) =>
    schema !== undefined && bytesOf(schema) > MAX_TOOL_SCHEMA_BYTES
      ? [
          {
            path,
            message: `${path === 'parameters' ? 'have schemas that are' : 'is'} longer than ${MAX_TOOL_SCHEMA_BYTES} bytes as JSON`,
          },
        ]
      : [],
  )
  if (tooLong.length > 0) {
    const message = `A tool's schema can have at most ${MAX_TOOL_SCHEMA_BYTES} bytes as JSON.`
    throw new AppError('invalid_request', message, { errors: tooLong })
  }
  if (bytesOf(definition) <= MAX_TOOL_DEFINITION_BYTES) return
  throw new AppError('invalid_request', `A tool can have at most ${MAX_TOOL_DEFINITION_BYTES} bytes as JSON in total.`)
}

/** Returns the names of the parameters, with whether a value is bound to them by default. */
const boundByName = ({ parameters }: CompiledDefinition): ReadonlyMap<string, boolean> =>
  new Map(parameters.map(({ parameter, meta }) => [parameter.name, meta.binding !== undefined]))

/**
 * Throws `invalid_request` with all errors and their field paths, including those in `schemaErrors`. Does not compile
 * the schemas of the definition.
 */
export const assertDefinition = (
  definition: ToolDefinition,
  schemaErrors: readonly FieldError[] = [],
): CompiledDefinition => {
  const { inputSchema } = definition
  const checked = checkDefinition(definition)
  const errors = [
    ...(checked.ok ? declaredErrors(definition, checked.value) : checked.error),
    ...(checked.ok && inputSchema !== undefined ? inputSchemaErrors(inputSchema, checked.value) : []),
    ...schemaErrors,
    ...responseErrors(definition.response),
    ...(checked.ok ? paginationErrors(definition.pagination, boundByName(checked.value)) : []),
    ...cacheErrors(definition),
    ...retryErrors(definition),
  ]
  if (checked.ok && errors.length === 0) return checked.value
  throw new AppError('invalid_request', 'This tool cannot be saved. See errors.', { errors })
}

/**
 * Drops defaults that duplicate those in the template. Responses include both, and a tool with two defaults for a
 * parameter would be rejected if it were sent back.
 */
export const withoutRepeatedDefaults = (definition: ToolDefinition): ToolDefinition => {
  const template = compileTemplate(definition)
  if (!template.ok) return definition
  const defaults = new Map(template.value.parameters.map(parameter => [parameter.name, parameter.default]))
  const kept = Object.entries(definition.parameters).map(([name, { default: value, ...meta }]) => {
    const isRepeated = value === undefined || isDeepStrictEqual(value, defaults.get(name))
    return [name, isRepeated ? meta : { ...meta, default: value }] as const
  })
  return { ...definition, parameters: Object.fromEntries(kept) }
}

/** Drops how results are paged if the edited template no longer has the parameter for it. */
export const withoutLostPagination = ({ pagination, ...definition }: ToolDefinition): ToolDefinition => {
  const template = pagination && compileTemplate(definition)
  const isLost = template?.ok === true && !template.value.parameters.some(({ name }) => name === pagination?.parameter)
  return pagination === undefined || isLost ? definition : { ...definition, pagination }
}

/** Drops the metadata of parameters that the edited template no longer has. */
export const withoutLostParameters = (definition: ToolDefinition): ToolDefinition => {
  const template = compileTemplate(definition)
  if (!template.ok) return definition
  const names = new Set(template.value.parameters.map(parameter => parameter.name))
  const kept = Object.entries(definition.parameters).filter(([name]) => names.has(name))
  return { ...definition, parameters: Object.fromEntries(kept) }
}
