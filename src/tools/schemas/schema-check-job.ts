import type { ValidateFunction } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { isDoneWithin } from '../../lib/process/time-limit.ts'
import { compileSchema, describeMismatch, tryCompileSchema } from './compile-schema.ts'

/** A value to check. `key` identifies the schema. */
export type SchemaCheckJob = { key: string; schema: JsonObject; hasIds: boolean; rootName: string; value: JsonValue }

/** `mismatch` says why the value does not match; undefined if it does. */
export type SchemaCheckOutcome =
  | { kind: 'checked'; mismatch: string | undefined }
  | { kind: 'slow' }
  | { kind: 'invalid' }

/** Time limit for checking one value, in milliseconds. */
export const CHECK_MS = 250
/** Most compiled schemas that a process caches. */
const MAX_COMPILED = 100

/** Creates the job's function, which caches compiled schemas. Compiling counts towards the job's time limit. */
export const createSchemaCheckJob = () => {
  const compiled = new LRUCache<string, ValidateFunction>({ max: MAX_COMPILED })
  const findValidator = ({ key, schema, hasIds }: SchemaCheckJob): ValidateFunction | undefined => {
    const validate = compiled.get(key) ?? tryCompileSchema(schema, hasIds)
    if (validate !== undefined) compiled.set(key, validate)
    return validate
  }

  return (job: SchemaCheckJob): SchemaCheckOutcome => {
    let validate = findValidator(job)
    if (validate === undefined) return { kind: 'invalid' }
    let isMatch = false
    const isDone = isDoneWithin(CHECK_MS, isRetry => {
      // An interrupted validator may have left its caches half updated.
      if (isRetry) validate = compileSchema(job.schema, job.hasIds)
      isMatch = validate?.(job.value) === true
    })
    if (!isDone) {
      compiled.delete(job.key)
      return { kind: 'slow' }
    }
    return { kind: 'checked', mismatch: isMatch ? undefined : describeMismatch(validate, job.rootName) }
  }
}
