import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import type { JsonObject } from '../../lib/kernel/json.ts'

/** Builders write the patterns and callers supply the values, so matching must take linear time. */
const linearRegExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 're2js' })

const createAjv = () => new Ajv2020({ strict: false, validateFormats: false, code: { regExp: linearRegExp } })

/** Creating one takes 70 ms, most of it for the meta-schema. */
let shared = createAjv()
let uses = 0
/** The library holds on to something of every schema, so it is replaced from time to time. */
const MAX_USES = 1_000

const shareAjv = (): Ajv2020 => {
  uses += 1
  if (uses > MAX_USES) {
    shared = createAjv()
    uses = 1
  }
  return shared
}

/** Returns what is wrong with a schema by the meta-schema of JSON Schema 2020-12, or undefined. */
export const findMetaSchemaFault = (schema: JsonObject): string | undefined => {
  const ajv = shareAjv()
  return ajv.validateSchema(schema) === true ? undefined : ajv.errorsText()
}

/** Compiles a schema. Throws if a reference leads nowhere or a pattern is invalid. */
export const compileSchema = (schema: JsonObject, hasIds: boolean): ValidateFunction => {
  // An id could clash with that of another schema, or stand for the meta-schema.
  if (hasIds) return createAjv().compile(schema)
  const ajv = shareAjv()
  try {
    return ajv.compile(schema)
  } finally {
    ajv.removeSchema(schema)
  }
}

/** Returns why the validator's last value does not match. */
export const describeMismatch = ({ errors }: ValidateFunction, rootName: string): string => {
  const [error] = errors ?? []
  return `${error?.instancePath || rootName} ${error?.message ?? 'does not match the schema'}`
}
