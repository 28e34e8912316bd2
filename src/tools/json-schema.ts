import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { isDoneWithin } from '../lib/process/time-limit.ts'

/** Returns why a value does not match the schema, or undefined if it does. */
export type SchemaCheck = (value: JsonValue) => string | undefined

/** Builders write the patterns and callers supply the values, so matching must take linear time. */
const linearRegExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 're2js' })

const createAjv = () => new Ajv2020({ strict: false, validateFormats: false, code: { regExp: linearRegExp } })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason')

/** A schema of one kilobyte can branch without end, so compiling is limited too. */
const COMPILE_MS = 1_000
const CHECK_MS = 250

const TOO_LONG = 'takes too long to check'

/**
 * Returns why a value is not a JSON Schema 2020-12 that we can use, or undefined if it is. Only internal references
 * resolve.
 */
export const schemaProblem = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return 'is not a JSON Schema object'
  let problem: string | undefined
  try {
    const isDone = isDoneWithin(COMPILE_MS, () => {
      const ajv = createAjv()
      if (ajv.validateSchema(schema) === true) ajv.compile(schema)
      else problem = `is not a valid JSON Schema 2020-12: ${ajv.errorsText()}`
    })
    return isDone ? problem : TOO_LONG
  } catch (error) {
    return `cannot be compiled: ${messageOf(error)}`
  }
}

const compileInTime = (schema: JsonObject): ValidateFunction | undefined => {
  let validate: ValidateFunction | undefined
  isDoneWithin(COMPILE_MS, () => {
    validate = createAjv().compile(schema)
  })
  return validate
}

/**
 * Expects a schema that was checked when its tool was saved. Compiles the validator with the first value; a value
 * that takes longer than 250 ms to check does not match.
 */
export const createSchemaCheck = (schema: JsonObject, rootName: string): SchemaCheck => {
  let compiled: ValidateFunction | undefined
  return value => {
    compiled ??= compileInTime(schema)
    if (compiled === undefined) return `${rootName} ${TOO_LONG}`
    let validate: ValidateFunction = compiled
    let fits = false
    const isDone = isDoneWithin(CHECK_MS, isRetry => {
      if (isRetry) validate = createAjv().compile(schema)
      fits = validate(value)
    })
    // An interrupted validator may have left its caches half-updated.
    compiled = isDone ? validate : undefined
    if (!isDone) return `${rootName} ${TOO_LONG}`
    if (fits) return undefined
    const [error] = validate.errors ?? []
    return `${error?.instancePath || rootName} ${error?.message ?? 'does not match the schema'}`
  }
}
