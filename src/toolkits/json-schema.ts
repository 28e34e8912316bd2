import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'

/** Says where a value does not fit; undefined when it does. */
export type SchemaCheck = (value: JsonValue) => string | undefined

/** Patterns come from a builder and values from strangers: linear time, whatever they are. */
const linearRegExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 're2js' })

const createAjv = () => new Ajv2020({ strict: false, validateFormats: false, code: { regExp: linearRegExp } })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason')

/** Why a value is no JSON Schema 2020-12 that can be used here; undefined when it is one. References stay inside it. */
export const schemaProblem = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return 'is no JSON Schema object'
  const ajv = createAjv()
  try {
    if (ajv.validateSchema(schema) !== true) return `is no JSON Schema 2020-12: ${ajv.errorsText()}`
    ajv.compile(schema)
    return undefined
  } catch (error) {
    return `cannot be compiled: ${messageOf(error)}`
  }
}

/** The schema was checked when its tool was saved; the validator is compiled with its first value. */
export const createSchemaCheck = (schema: JsonObject, whole: string): SchemaCheck => {
  let validate: ValidateFunction | undefined
  return value => {
    validate ??= createAjv().compile(schema)
    if (validate(value)) return undefined
    const [error] = validate.errors ?? []
    return `${error?.instancePath || whole} ${error?.message ?? 'is not as declared'}`
  }
}
