import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import type { JsonObject } from '../../lib/kernel/json.ts'

/** Builders write the patterns and callers supply the values, so matching must take linear time. */
const linearRegExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 're2js' })

const createAjv = () => new Ajv2020({ strict: false, validateFormats: false, code: { regExp: linearRegExp } })

/** Creating an instance takes 70 ms, mostly for the meta-schema. */
let shared = createAjv()
let uses = 0
/** The library retains memory for every schema, so the instance is replaced after this many. */
const MAX_USES = 1_000

const shareAjv = (): Ajv2020 => {
  uses += 1
  if (uses > MAX_USES) {
    shared = createAjv()
    uses = 1
  }
  return shared
}

/** Returns how a schema violates the meta-schema of JSON Schema 2020-12, or undefined if it does not. */
export const findMetaSchemaFault = (schema: JsonObject): string | undefined => {
  const ajv = shareAjv()
  return ajv.validateSchema(schema) === true ? undefined : ajv.errorsText()
}

/** Compiles a schema. Throws if a reference has no target or a pattern is invalid. */
export const compileSchema = (schema: JsonObject, hasIds: boolean): ValidateFunction => {
  // An id could equal that of another schema or of the meta-schema.
  if (hasIds) return createAjv().compile(schema)
  const ajv = shareAjv()
  try {
    return ajv.compile(schema)
  } finally {
    ajv.removeSchema(schema)
  }
}

/** Like `compileSchema`, for schemas that nobody has checked. Returns undefined if it cannot be compiled. */
export const tryCompileSchema = (schema: JsonObject, hasIds: boolean): ValidateFunction | undefined => {
  try {
    return compileSchema(schema, hasIds)
  } catch {
    return undefined
  }
}

/** Returns why the validator's last value does not match. */
export const describeMismatch = ({ errors }: ValidateFunction, rootName: string): string => {
  const [error] = errors ?? []
  return `${error?.instancePath || rootName} ${error?.message ?? 'does not match the schema'}`
}
