import { Ajv2020, type ErrorObject, MissingRefError, type ValidateFunction } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { shorten } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { once } from '../../lib/kernel/once.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { listSubschemas } from '../lint/walk-schema.ts'

const NEWEST = 'https://json-schema.org/draft/2020-12/schema'

/** Returns whether the schema is written in JSON Schema 2020-12, the default dialect. */
export const isNewestDialect = ({ $schema }: JsonObject): boolean =>
  $schema === undefined || (typeof $schema === 'string' && $schema.replace(/#$/, '') === NEWEST)

/** A pattern that RE2 does not support. */
class PatternError extends Error {
  readonly pattern: string
  constructor(pattern: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : 'it is not valid', { cause })
    this.pattern = pattern
  }
}

/** Builders write the patterns and callers supply the values, so matching must take linear time. */
const compilePattern = (pattern: string): RE2JS => {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new PatternError(pattern, error)
  }
}

/** If logging is enabled, the library prints the code generated for a faulty schema. */
const OPTIONS = { strict: false, validateFormats: false, logger: false } as const

/** Shared by all schemas, because creating it takes 20 ms or more. It adds no schema, so they cannot affect each other. */
const metaValidator = once(() => new Ajv2020(OPTIONS))

const describe = ({ instancePath, message, params }: ErrorObject): string => {
  const allowed: unknown = params.allowedValues
  const fault = Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : (message ?? 'is not valid')
  return `${instancePath || 'it'} ${fault}`
}

/**
 * Returns the first violation of the JSON Schema 2020-12 meta-schema, or undefined if there is none. Takes linear time
 * and does not compile the schema. Ignores `$schema`.
 */
export const findViolation = ({ $schema: _dialect, ...schema }: JsonObject): string | undefined => {
  const validator = metaValidator()
  if (validator.validateSchema(schema) === true) return undefined
  const [error] = validator.errors ?? []
  return error === undefined ? 'it is not a schema' : describe(error)
}

/** Each schema has its own compiler, because a shared one would resolve references to other schemas. */
const createCompiler = (findsAll: boolean) =>
  new Ajv2020({
    ...OPTIONS,
    allErrors: findsAll,
    // Compiling the meta-schema again takes 20 ms; the shared validator has already checked the schema.
    validateSchema: false,
    code: { regExp: Object.assign(compilePattern, { code: 're2js' }) },
  })

/** `$async` would make validators return promises, which are never awaited. */
const withoutAsync = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(withoutAsync)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).filter(([name]) => name !== '$async')
  return Object.fromEntries(members.map(([name, member]) => [name, withoutAsync(member)]))
}

const prepare = ({ $schema: _dialect, ...schema }: JsonObject): JsonObject => {
  if (!JSON.stringify(schema).includes('"$async"')) return schema
  const prepared = withoutAsync(schema)
  return isJsonObject(prepared) ? prepared : schema
}

/** Maximum length of a quotation from the schema or from the compiler's message. */
const MAX_QUOTED_CHARS = 200

const quote = (text: string): string => `"${shorten(text, MAX_QUOTED_CHARS)}"`

/** Returns where the first subschema is that matches, as ` at <JSON Pointer>`, or '' for the root. */
const placeOf = (root: JsonObject, isIt: (schema: JsonObject) => boolean): string => {
  const { at = '' } = listSubschemas(root).nodes.find(({ schema }) => isIt(schema)) ?? {}
  return at && ` at ${at}`
}

/** Completes a sentence whose subject is the schema: what is wrong, where, and what to do. */
const explain = (error: unknown, schema: JsonObject): string => {
  if (error instanceof MissingRefError) {
    const { missingRef } = error
    const place = placeOf(schema, ({ $ref }) => $ref === missingRef)
    return `refers to ${quote(missingRef)}${place}, which is not in the schema. Define it there, or remove the reference`
  }
  if (error instanceof PatternError) {
    const { pattern, message } = error
    const hasPattern = ({ pattern: own, patternProperties: named }: JsonObject) =>
      own === pattern || (isJsonObject(named) && Object.hasOwn(named, pattern))
    const reason = shorten(message, MAX_QUOTED_CHARS)
    return `has a pattern${placeOf(schema, hasPattern)} that cannot be used: ${reason}. Rewrite it, without look-around and back-references`
  }
  if (error instanceof RangeError) return 'has too many levels of nesting. Use fewer levels'
  const reason = error instanceof Error ? error.message : 'unknown reason'
  return `cannot be compiled: ${shorten(reason, MAX_QUOTED_CHARS)}. Correct or remove this part`
}

/**
 * Compiles a schema, ignoring `$schema`. The error completes a sentence whose subject is the schema. Resolves only
 * references within the schema. The validator finds only the first error of a value, unless `findsAll` is set.
 */
export const compileSchema = (
  schema: JsonObject,
  { findsAll = false }: { findsAll?: boolean } = {},
): Result<ValidateFunction, string> => {
  try {
    const violation = findViolation(schema)
    if (violation !== undefined) return failure(`is not a valid JSON Schema 2020-12: ${violation}`)
    return success(createCompiler(findsAll).compile(prepare(schema)))
  } catch (error) {
    return failure(explain(error, schema))
  }
}
