import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { isDoneWithin } from '../lib/process/time-limit.ts'

/** Says where a value does not fit; undefined when it does. */
export type SchemaCheck = (value: JsonValue) => string | undefined

/** Patterns come from a builder and values from strangers: linear time, whatever they are. */
const linearRegExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 're2js' })

const createAjv = () => new Ajv2020({ strict: false, validateFormats: false, code: { regExp: linearRegExp } })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason')

/** Schemas are small or hostile: ones that branch without end can be written in a kilobyte. */
const COMPILE_MS = 1_000
const CHECK_MS = 250

const TOO_LONG = 'takes too long to check'

/** Why a value is no JSON Schema 2020-12 that can be used here; undefined when it is one. References stay inside it. */
export const schemaProblem = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return 'is no JSON Schema object'
  let problem: string | undefined
  try {
    const isDone = isDoneWithin(COMPILE_MS, () => {
      const ajv = createAjv()
      if (ajv.validateSchema(schema) === true) ajv.compile(schema)
      else problem = `is no JSON Schema 2020-12: ${ajv.errorsText()}`
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
 * The schema was checked when its tool was saved; the validator is compiled with its first value. A value whose check
 * takes longer than 250 ms does not fit.
 */
export const createSchemaCheck = (schema: JsonObject, whole: string): SchemaCheck => {
  let compiled: ValidateFunction | undefined
  return value => {
    compiled ??= compileInTime(schema)
    if (compiled === undefined) return `${whole} ${TOO_LONG}`
    let validate: ValidateFunction = compiled
    let fits = false
    const isDone = isDoneWithin(CHECK_MS, isAgain => {
      if (isAgain) validate = createAjv().compile(schema)
      fits = validate(value)
    })
    // What was interrupted may be half-way through changing its caches.
    compiled = isDone ? validate : undefined
    if (!isDone) return `${whole} ${TOO_LONG}`
    if (fits) return undefined
    const [error] = validate.errors ?? []
    return `${error?.instancePath || whole} ${error?.message ?? 'is not as declared'}`
  }
}
