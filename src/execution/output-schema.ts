import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonObject, JsonValue } from '../kernel/index.ts'

/** Says where a value does not fit; undefined when it does. */
export type OutputCheck = (value: JsonValue) => string | undefined

/** The schema was checked when the tool was saved; the validator is compiled on the tool's first answer. */
export const createOutputCheck = (schema: JsonObject): OutputCheck => {
  let validate: ValidateFunction | undefined
  return value => {
    validate ??= new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
    if (validate(value)) return undefined
    const [error] = validate.errors ?? []
    return `${error?.instancePath || 'the whole answer'} ${error?.message ?? 'is not as declared'}`
  }
}
