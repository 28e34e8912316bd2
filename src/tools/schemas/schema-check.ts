import { hash } from 'node:crypto'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { formatNumber } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { once } from '../../lib/kernel/once.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { isDoneWithin } from '../../lib/process/time-limit.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import { compileSchema, describeMismatch, findSchemaFault } from './compile-schema.ts'
import { countValues, measureSchema, type SchemaMeasure } from './measure-schema.ts'
import { CHECK_MS, type SchemaCheckJob, type SchemaCheckOutcome } from './schema-check-job.ts'

/** Returns why a value does not match the schema or could not be checked, or undefined if it matches. */
export type SchemaCheck = (value: JsonValue, signal: StopSignal | undefined) => Promise<string | undefined>

/** Schemas with more `SchemaMeasure.nodes` are never checked on the main thread. */
const MAX_NODES = 500
/** Most pairs of a subschema and a value that a check on the main thread visits. Takes about a millisecond. */
const MAX_STEPS = 50_000
/** Maximum length of a list whose items are compared with each other on the main thread. */
const MAX_UNIQUE_ITEMS = 100
/** Maximum `SchemaMeasure.nodes` of a schema that can be saved. */
const MAX_SAVED_NODES = 10_000_000

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason')

/** Time limit for compiling a schema. Even a small one can take a long time. */
const COMPILE_MS = 1_000

/**
 * Returns why a value is not a usable JSON Schema 2020-12, or undefined if it is. Resolves only internal references.
 */
export const schemaProblem = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return 'is not a JSON Schema object'
  let problem: string | undefined
  try {
    const isDone = isDoneWithin(COMPILE_MS, () => {
      problem = findSchemaFault(schema)
    })
    return isDone ? problem : 'takes too long to check'
  } catch (error) {
    return `cannot be compiled: ${messageOf(error)}`
  }
}

/** Returns why a schema is too large to save, or undefined if it is not. */
export const schemaSizeProblem = (schema: JsonObject): string | undefined => {
  const { nodes } = measureSchema(schema)
  return nodes > MAX_SAVED_NODES && nodes < Number.POSITIVE_INFINITY
    ? `has more than ${formatNumber(MAX_SAVED_NODES)} subschemas when all references are expanded`
    : undefined
}

const hasLongList = (value: JsonValue): boolean => {
  if (Array.isArray(value)) return value.length > MAX_UNIQUE_ITEMS || value.some(hasLongList)
  return isJsonObject(value) && Object.values(value).some(hasLongList)
}

const isQuick = ({ size, nodes, hasUniqueItems }: SchemaMeasure, value: JsonValue): boolean => {
  if (size > MAX_NODES || nodes > MAX_NODES) return false
  const limit = MAX_STEPS / nodes
  try {
    const values = countValues(value, limit)
    // Each item of a list is compared with every other item.
    return values <= limit && !(hasUniqueItems && (values * values * nodes > MAX_STEPS || hasLongList(value)))
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Creates a check that compiles its validator for the first value. `tooSlow` and `invalid` are error messages. */
const createQuickCheck = (schema: JsonObject, rootName: string, messages: { tooSlow: string; invalid: string }) => {
  /** Returns undefined if compiling takes too long. The next check then tries again. */
  const compile = (): ValidateFunction | 'invalid' | undefined => {
    let validate: ValidateFunction | undefined
    try {
      isDoneWithin(COMPILE_MS, () => {
        validate = compileSchema(schema)
      })
    } catch {
      return 'invalid'
    }
    return validate
  }
  let compiled: ValidateFunction | 'invalid' | undefined
  return (value: JsonValue): string | undefined => {
    compiled ??= compile()
    let validate = compiled
    if (validate === undefined) return messages.tooSlow
    if (validate === 'invalid') return messages.invalid
    let isMatch = false
    // The measure should rule out slow checks. The time limit catches what the measure misses.
    const isDone = isDoneWithin(CHECK_MS, isRetry => {
      if (isRetry) validate = compileSchema(schema)
      isMatch = typeof validate === 'function' && validate(value) === true
    })
    if (!isDone || typeof validate !== 'function') {
      // An interrupted validator may have left its caches half updated.
      compiled = undefined
      return messages.tooSlow
    }
    return isMatch ? undefined : describeMismatch(validate, rootName)
  }
}

const explain = (ending: JobEnding, schemaName: string, timeLimitMs: number): string => {
  const what = `the check against ${schemaName}`
  switch (ending) {
    case 'time':
      return `${what} took longer than ${timeLimitMs} ms. The tool's builder must simplify the schema`
    case 'memory':
      return `${what} took too much memory. The tool's builder must simplify the schema`
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
 * Checks values against tools' schemas. Quick checks run immediately. All others run in a separate process, because the
 * schemas are untrusted.
 */
export const createSchemaChecks = ({ run, timeLimitMs }: Job<SchemaCheckJob, SchemaCheckOutcome>) => ({
  /** Compiles the schema for the first value and caches the validator. The schema may be unchecked and invalid. */
  createCheck: (schema: JsonObject, { rootName, schemaName }: SchemaNames, { owner, group }: Tenant): SchemaCheck => {
    const measure = once(() => measureSchema(schema))
    const key = once(() => hash('sha256', JSON.stringify(schema), 'base64url'))
    const messages = {
      tooSlow: explain('time', schemaName, CHECK_MS),
      invalid: `${schemaName} cannot be compiled. The tool's builder must correct it`,
    }
    const checkHere = createQuickCheck(schema, rootName, messages)

    const checkInProcess = async (value: JsonValue, signal: StopSignal | undefined): Promise<string | undefined> => {
      const job = { key: key(), schema, rootName, value }
      const outcome = await run(owner, job, { group, affinity: key(), signal })
      if (!outcome.ok) return explain(outcome.error, schemaName, timeLimitMs)
      switch (outcome.value.kind) {
        case 'checked':
          return outcome.value.mismatch
        case 'slow':
          return messages.tooSlow
        case 'invalid':
          return messages.invalid
        case 'deep':
          return `the check against ${schemaName} reached too many levels of nesting. Use a value or a schema with fewer levels`
      }
    }

    return async (value, signal) => (isQuick(measure(), value) ? checkHere(value) : checkInProcess(value, signal))
  },
})

export type SchemaChecks = ReturnType<typeof createSchemaChecks>
