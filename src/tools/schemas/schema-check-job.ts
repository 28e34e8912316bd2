import type { ValidateFunction } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { isDoneWithin } from '../../lib/process/time-limit.ts'
import { compileSchema, describeMismatch } from './compile-schema.ts'

/** A value to check. `key` identifies the schema. */
export type SchemaCheckJob = { key: string; schema: JsonObject; rootName: string; value: JsonValue }

/** `mismatch` says why the value does not match; undefined if it does. `deep`: nested too deeply to be checked. */
export type SchemaCheckOutcome =
  | { kind: 'checked'; mismatch: string | undefined }
  | { kind: 'slow' | 'invalid' | 'deep' }

/** Time limit for checking one value, in milliseconds. */
export const CHECK_MS = 250
/** Maximum number of compiled schemas that a process caches. */
const MAX_COMPILED = 100

/** Creates the job's function, which caches compiled schemas. Compiling counts toward the job's time limit. */
export const createSchemaCheckJob = () => {
  const compiled = new LRUCache<string, ValidateFunction | 'invalid'>({ max: MAX_COMPILED })
  const compile = (schema: JsonObject): ValidateFunction | 'invalid' => {
    try {
      return compileSchema(schema)
    } catch {
      return 'invalid'
    }
  }

  return ({ key, schema, rootName, value }: SchemaCheckJob): SchemaCheckOutcome => {
    let validate = compiled.get(key) ?? compile(schema)
    compiled.set(key, validate)
    if (validate === 'invalid') return { kind: 'invalid' }
    let isMatch = false
    try {
      const isDone = isDoneWithin(CHECK_MS, isRetry => {
        // An interrupted validator may have left its caches half updated.
        if (isRetry) validate = compile(schema)
        isMatch = validate !== 'invalid' && validate(value) === true
      })
      if (!isDone) compiled.delete(key)
      return isDone
        ? { kind: 'checked', mismatch: isMatch ? undefined : describeMismatch(validate, rootName) }
        : { kind: 'slow' }
    } catch (error) {
      compiled.delete(key)
      if (error instanceof RangeError) return { kind: 'deep' }
      throw error
    }
  }
}
