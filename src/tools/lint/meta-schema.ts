import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../lib/kernel/json.ts'

const NEWEST = 'https://json-schema.org/draft/2020-12/schema'

/** Reports whether the schema is written in JSON Schema 2020-12, which is the default. */
export const isNewestDialect = ({ $schema }: JsonObject): boolean =>
  typeof $schema !== 'string' || $schema.replace(/#$/, '') === NEWEST

/** Created with the first schema, because it compiles the meta-schema. */
let ajv: Ajv2020 | undefined

/**
 * Describes the first violation of the JSON Schema 2020-12 meta-schema, or returns undefined. Does not compile the
 * schema and takes linear time, because schemas may come from strangers.
 */
export const explainInvalidSchema = ({ $schema: _dialect, ...schema }: JsonObject): string | undefined => {
  ajv ??= new Ajv2020({ strict: false, validateFormats: false, logger: false })
  if (ajv.validateSchema(schema) === true) return undefined
  const [error] = ajv.errors ?? []
  return error === undefined ? 'it is not a schema' : `${error.instancePath || 'it'} ${error.message ?? 'is invalid'}`
}
