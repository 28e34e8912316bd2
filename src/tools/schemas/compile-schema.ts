import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'

/** Builders write the patterns and callers supply the values, so matching must take linear time. */
const linearRegExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 're2js' })

/** If logging is enabled, the library prints the code generated for a faulty schema. */
const createAjv = () =>
  new Ajv2020({ strict: false, validateFormats: false, logger: false, code: { regExp: linearRegExp } })

/** `$async` would make validators return promises, which are never awaited. */
const withoutAsync = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(withoutAsync)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).filter(([name]) => name !== '$async')
  return Object.fromEntries(members.map(([name, member]) => [name, withoutAsync(member)]))
}

const prepare = (schema: JsonObject): JsonObject => {
  if (!JSON.stringify(schema).includes('"$async"')) return schema
  const prepared = withoutAsync(schema)
  return isJsonObject(prepared) ? prepared : schema
}

/**
 * Compiles a schema. Throws if a reference has no target or a pattern is invalid. Each schema has its own compiler,
 * because a shared one would resolve references to other schemas.
 */
export const compileSchema = (schema: JsonObject): ValidateFunction => createAjv().compile(prepare(schema))

/**
 * Returns why a schema is invalid, or undefined if it compiles. Throws the compiler's error if the schema cannot be
 * compiled.
 */
export const findSchemaFault = (schema: JsonObject): string | undefined => {
  const ajv = createAjv()
  const prepared = prepare(schema)
  if (ajv.validateSchema(prepared) !== true) return `is not a valid JSON Schema 2020-12: ${ajv.errorsText()}`
  ajv.compile(prepared)
  return undefined
}

/** Returns why the value last passed to the validator does not match. */
export const describeMismatch = ({ errors }: ValidateFunction, rootName: string): string => {
  const [error] = errors ?? []
  return `${error?.instancePath || rootName} ${error?.message ?? 'does not match the schema'}`
}
