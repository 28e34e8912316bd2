import { hash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { once } from '../../lib/kernel/once.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import { compileSchema, describeMismatch, findMetaSchemaFault, tryCompileSchema } from './compile-schema.ts'
import { countValues, measureSchema, type SchemaMeasure } from './measure-schema.ts'
import { CHECK_MS, type SchemaCheckJob, type SchemaCheckOutcome } from './schema-check-job.ts'

/** Returns why a value does not match the schema or could not be checked. Undefined if it matches. */
export type SchemaCheck = (value: JsonValue, signal: StopSignal | undefined) => Promise<string | undefined>

/** A schema with more `SchemaMeasure.nodes` is never checked on the main thread. */
const MAX_NODES = 500
/** Most pairs of a subschema and a value that a check on the main thread visits. Takes about a millisecond. */
const MAX_STEPS = 50_000
/** Longest list whose items are compared with each other on the main thread. */
const MAX_UNIQUE_ITEMS = 100
/** Most `SchemaMeasure.nodes` of a schema that can be saved. */
const MAX_SAVED_NODES = 10_000_000

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason')

/**
 * Returns why a value is not a usable JSON Schema 2020-12, or undefined if it is one. Only internal
 * references are resolved. Does not compile large schemas.
 */
export const schemaProblem = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return 'is not a JSON Schema object'
  try {
    const fault = findMetaSchemaFault(schema)
    if (fault !== undefined) return `is not a valid JSON Schema 2020-12: ${fault}`
    const { size, nodes, hasIds, deadReference } = measureSchema(schema)
    if (deadReference !== undefined) return `cannot be compiled: the reference ${deadReference} has no target`
    if (size <= MAX_NODES && (nodes <= MAX_NODES || hasIds)) compileSchema(schema, hasIds)
    return undefined
  } catch (error) {
    return `cannot be compiled: ${messageOf(error)}`
  }
}

/** Returns why a schema is too large to be saved, or undefined if it is not. */
export const schemaSizeProblem = (schema: JsonObject): string | undefined => {
  const { nodes } = measureSchema(schema)
  return nodes > MAX_SAVED_NODES && nodes < Number.POSITIVE_INFINITY
    ? `has more than ${MAX_SAVED_NODES} subschemas when all references are expanded`
    : undefined
}

const hasLongList = (value: JsonValue): boolean => {
  if (Array.isArray(value)) return value.length > MAX_UNIQUE_ITEMS || value.some(hasLongList)
  return isJsonObject(value) && Object.values(value).some(hasLongList)
}

const isQuick = ({ nodes, hasUniqueItems }: SchemaMeasure, value: JsonValue): boolean => {
  const limit = MAX_STEPS / nodes
  return countValues(value, limit) <= limit && !(hasUniqueItems && hasLongList(value))
}

const explain = (ending: JobEnding, schemaName: string, timeLimitMs: number): string => {
  const what = `the check against ${schemaName}`
  switch (ending) {
    case 'time':
      return `${what} took longer than ${timeLimitMs} ms. Its builder must simplify the schema`
    case 'memory':
      return `${what} took too much memory. Its builder must simplify the schema`
    case 'queue_full':
    case 'not_started':
      return `${what} could not start in time: the machine is busy. Try again later`
    case 'aborted':
      return `${what} was cancelled`
    case 'closed':
      return `${what} could not start: Patchbay is shutting down. Try again later`
  }
}

/**
 * Names in messages: `rootName` for the checked value (`the arguments`), `schemaName` for its schema (`inputSchema`).
 */
export type SchemaNames = { rootName: string; schemaName: string }

/**
 * Checks values against the schemas of tools. Quick checks run at once, all others in a separate
 * process, because the schemas are untrusted.
 */
export const createSchemaChecks = ({ run, timeLimitMs }: Job<SchemaCheckJob, SchemaCheckOutcome>) => ({
  /**
   * Expects a schema that was checked when its tool was saved. Compiles it with the first value and
   * caches the validator.
   */
  createCheck: (schema: JsonObject, { rootName, schemaName }: SchemaNames, { owner, group }: Tenant): SchemaCheck => {
    const measure = once(() => measureSchema(schema))
    const validator = once(() => tryCompileSchema(schema, false))
    const invalid = `${schemaName} cannot be compiled. Its builder must correct it`
    const key = once(() => hash('sha256', JSON.stringify(schema), 'base64url'))

    const checkInProcess = async (value: JsonValue, signal: StopSignal | undefined): Promise<string | undefined> => {
      const job = { key: key(), schema, hasIds: measure().hasIds, rootName, value }
      const outcome = await run(owner, job, { group, affinity: key(), signal })
      if (!outcome.ok) return explain(outcome.error, schemaName, timeLimitMs)
      switch (outcome.value.kind) {
        case 'checked':
          return outcome.value.mismatch
        case 'slow':
          return explain('time', schemaName, CHECK_MS)
        case 'invalid':
          return invalid
      }
    }

    return async (value, signal) => {
      if (measure().nodes > MAX_NODES || !isQuick(measure(), value)) return checkInProcess(value, signal)
      const validate = validator()
      if (validate === undefined) return invalid
      return validate(value) ? undefined : describeMismatch(validate, rootName)
    }
  },
})

export type SchemaChecks = ReturnType<typeof createSchemaChecks>
