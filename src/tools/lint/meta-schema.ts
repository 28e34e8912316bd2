import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../lib/kernel/json.ts'

const NEWEST = 'https://json-schema.org/draft/2020-12/schema'

/** Whether it is written in JSON Schema 2020-12, which is what it is where it says nothing. */
export const isNewestDialect = ({ $schema }: JsonObject): boolean =>
  typeof $schema !== 'string' || $schema.replace(/#$/, '') === NEWEST

/** Made with the first schema: it compiles the dialect's own. */
let ajv: Ajv2020 | undefined

/**
 * The first place that is not as JSON Schema 2020-12 wants it, in words; undefined where all is. Nothing is compiled of
 * it, and it is read in linear time: it may be a stranger's.
 */
export const explainInvalidSchema = ({ $schema: _dialect, ...schema }: JsonObject): string | undefined => {
  ajv ??= new Ajv2020({ strict: false, validateFormats: false, logger: false })
  if (ajv.validateSchema(schema) === true) return undefined
  const [error] = ajv.errors ?? []
  return error === undefined
    ? 'it is none'
    : `${error.instancePath || 'it'} ${error.message ?? 'is not as it should be'}`
}
