import { hash } from 'node:crypto'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { formatDuration } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { once } from '../../lib/kernel/once.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { isDoneWithin } from '../../lib/process/time-limit.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import { findViolation } from './compile-schema.ts'
import { countValues, measureSchema, type SchemaMeasure } from './measure-schema.ts'
import {
  CHECK_MS,
  compileFor,
  performWithin,
  type SchemaCheckJob,
  type SchemaCheckOutcome,
  type ValueTask,
} from './schema-check-job.ts'
import type { Trimmed } from './trim-value.ts'

/**
 * The result of a check. `mismatch`: the value is wrong. `unchecked`: the check failed, so nothing is known about the
 * value. The message says where and why, without a period at the end.
 */
export type SchemaCheckResult = { kind: 'match' } | { kind: 'mismatch' | 'unchecked'; message: string }

export type SchemaCheck = (value: JsonValue, signal: StopSignal | undefined) => Promise<SchemaCheckResult>

/**
 * Like the result of a check, but with the part of the value that matches. The message of `unchecked` says why the check
 * failed, without a period at the end.
 */
export type SchemaTrimResult =
  | { kind: 'match' }
  | ({ kind: 'trimmed' } & Trimmed)
  | { kind: 'unchecked'; message: string }

/** Checks a value, and leaves out the members that do not match. */
export type SchemaTrim = (value: JsonValue, signal: StopSignal | undefined) => Promise<SchemaTrimResult>

/** Schemas with more `SchemaMeasure.nodes` are never compiled or checked on the main thread. */
const MAX_NODES = 500
/** Schemas with a larger `SchemaMeasure.size` are never compiled on the main thread, although that takes linear time. */
const MAX_SIZE = 2_500
/** Most pairs of a subschema and a value that a check on the main thread visits. Takes about a millisecond. */
const MAX_STEPS = 50_000
/** Maximum length of a list whose items are compared with each other on the main thread. */
const MAX_UNIQUE_ITEMS = 100
/** Time limit for compiling a schema on the main thread, in milliseconds. The measure should rule out slow ones. */
const COMPILE_MS = 250
/** Maximum schemas whose measure and validator are cached, because some checks are created for a single call. */
const MAX_CACHED = 200

const hasLongList = (value: JsonValue): boolean => {
  if (Array.isArray(value)) return value.length > MAX_UNIQUE_ITEMS || value.some(hasLongList)
  return isJsonObject(value) && Object.values(value).some(hasLongList)
}

const isSmall = ({ size, nodes }: SchemaMeasure): boolean => size <= MAX_SIZE && nodes <= MAX_NODES

const isQuick = (measure: SchemaMeasure, value: JsonValue): boolean => {
  if (!isSmall(measure)) return false
  const { nodes, hasUniqueItems } = measure
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

/** Compiles a small schema on the main thread, or returns `slow` in the unlikely case that it takes too long. */
const compileHere = (schema: JsonObject, task: ValueTask = 'check'): Result<ValidateFunction, string> | 'slow' => {
  // The validator that all schemas share is created by its first use, which must not be interrupted.
  findViolation({})
  let compiled: Result<ValidateFunction, string> | 'slow' = 'slow'
  const isDone = isDoneWithin(COMPILE_MS, () => {
    compiled = compileFor(task, schema)
  })
  return isDone ? compiled : 'slow'
}

/**
 * Creates a check for the main thread, which compiles its validator for the first value. Once anything took too long,
 * it always returns `slow`, and the value must be checked elsewhere.
 */
const createQuickCheck = (schema: JsonObject, task: ValueTask) => {
  let compiled: ReturnType<typeof compileHere> | undefined
  return (value: JsonValue): SchemaCheckOutcome => {
    compiled ??= compileHere(schema, task)
    if (compiled === 'slow') return { kind: 'slow' }
    if (!compiled.ok) return { kind: 'invalid', problem: compiled.error }
    const outcome = performWithin(task, compiled.value, schema, value)
    if (outcome.kind === 'slow') compiled = 'slow'
    else if (outcome.kind === 'deep') compiled = undefined
    return outcome
  }
}

type QuickCheck = ReturnType<typeof createQuickCheck>
/** A schema as the main thread knows it. `quick` is undefined if the schema is too large for it. */
type KnownSchema = { key: string; measure: SchemaMeasure; quick: Record<ValueTask, QuickCheck> | undefined }

/** Creates the cache of schemas by their text. */
const createKnownSchemas = () => {
  const cache = new LRUCache<string, KnownSchema>({ max: MAX_CACHED })
  return (schema: JsonObject): KnownSchema => {
    const key = hash('sha256', JSON.stringify(schema), 'base64url')
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const measure = measureSchema(schema)
    const quick = { check: createQuickCheck(schema, 'check'), trim: createQuickCheck(schema, 'trim') }
    const known = { key, measure, quick: isSmall(measure) ? quick : undefined }
    cache.set(key, known)
    return known
  }
}

const BUSY = 'could not start in time: the machine is busy. Try again later'
const STOPPING = 'could not start: Patchbay is shutting down. Try again later'
const SIMPLIFY = "The tool's builder must simplify the schema"

const explainEnding = (ending: JobEnding, timeLimitMs: number): string => {
  switch (ending) {
    case 'time':
      return `took longer than ${timeLimitMs} ms. ${SIMPLIFY}`
    case 'memory':
      return `took too much memory. ${SIMPLIFY}`
    case 'queue_full':
    case 'not_started':
      return BUSY
    case 'aborted':
      return 'was cancelled'
    case 'closed':
      return STOPPING
  }
}

/**
 * Names in messages: `rootName` for the checked value (`the arguments`), `schemaName` for its schema (`inputSchema`).
 */
export type SchemaNames = { rootName: string; schemaName: string }

const explainUnchecked = (
  outcome: Extract<SchemaCheckOutcome, { kind: 'invalid' | 'slow' | 'deep' }>,
  schemaName: string,
): string => {
  switch (outcome.kind) {
    case 'invalid':
      return `${schemaName} ${outcome.problem}. Only the tool's builder can do this`
    case 'slow':
      return `the check against ${schemaName} ${explainEnding('time', CHECK_MS)}`
    case 'deep':
      return `the check against ${schemaName} reached too many levels of nesting. Use a value or a schema with fewer levels`
  }
}

/** The outcome of a check, wherever it ran. */
type Checked =
  | Exclude<SchemaCheckOutcome, { kind: 'invalid' | 'slow' | 'deep' }>
  | { kind: 'unchecked'; message: string }

const toChecked = (outcome: SchemaCheckOutcome, { schemaName }: SchemaNames): Checked =>
  outcome.kind === 'match' || outcome.kind === 'mismatch' || outcome.kind === 'trimmed'
    ? outcome
    : { kind: 'unchecked', message: explainUnchecked(outcome, schemaName) }

/** Why a schema cannot be saved. `busy`: it was not checked, through no fault of its own. */
export type SchemaProblem = { kind: 'invalid' | 'busy'; message: string }

const explainUnsaved = (ending: JobEnding, timeLimitMs: number): SchemaProblem => {
  switch (ending) {
    case 'time':
      return { kind: 'invalid', message: `takes longer than ${formatDuration(timeLimitMs)} to compile. Simplify it` }
    case 'memory':
      return { kind: 'invalid', message: 'takes too much memory to compile. Simplify it' }
    case 'closed':
      return { kind: 'busy', message: STOPPING }
    case 'queue_full':
    case 'not_started':
    case 'aborted':
      return { kind: 'busy', message: BUSY }
  }
}

/**
 * Checks values against tools' schemas, and schemas before they are saved. Quick checks run immediately. All others run
 * in a separate process, because the schemas are untrusted.
 */
export const createSchemaChecks = ({ run, timeLimitMs }: Job<SchemaCheckJob, SchemaCheckOutcome>) => {
  const toKnown = createKnownSchemas()

  /** Performs a task here if it is quick, and otherwise in a process. */
  const createTask = (task: ValueTask, schema: JsonObject, names: SchemaNames, { owner, group }: Tenant) => {
    const known = once(() => toKnown(schema))

    const performInProcess = async (value: JsonValue, signal: StopSignal | undefined): Promise<Checked> => {
      const { key } = known()
      const outcome = await run(owner, { task, key, schema, value }, { group, affinity: key, signal })
      if (outcome.ok) return toChecked(outcome.value, names)
      const message = `the check against ${names.schemaName} ${explainEnding(outcome.error, timeLimitMs)}`
      return { kind: 'unchecked', message }
    }

    return async (value: JsonValue, signal: StopSignal | undefined): Promise<Checked> => {
      const { measure, quick } = known()
      const outcome = isQuick(measure, value) ? quick?.[task](value) : undefined
      return outcome === undefined || outcome.kind === 'slow'
        ? performInProcess(value, signal)
        : toChecked(outcome, names)
    }
  }

  return {
    /**
     * Compiles the schema for the first value, unless it is cached. The schema may be unchecked and invalid, and must not
     * change.
     */
    createCheck: (schema: JsonObject, names: SchemaNames, tenant: Tenant): SchemaCheck => {
      const perform = createTask('check', schema, names, tenant)
      return async (value, signal) => {
        const checked = await perform(value, signal)
        if (checked.kind === 'match' || checked.kind === 'unchecked') return checked
        const { at = '', message = '' } = checked.kind === 'mismatch' ? checked.mismatch : {}
        return { kind: 'mismatch', message: `${at || names.rootName} ${message}` }
      }
    },

    /** Like `createCheck`, for values whose members may be left out. */
    createTrim: (schema: JsonObject, names: SchemaNames, tenant: Tenant): SchemaTrim => {
      const perform = createTask('trim', schema, names, tenant)
      return async (value, signal) => {
        const checked = await perform(value, signal)
        if (checked.kind === 'match' || checked.kind === 'unchecked') return checked
        return { kind: 'trimmed', ...(checked.kind === 'trimmed' ? checked.trimmed : { mismatches: [], unmasked: [] }) }
      }
    },

    /** Returns why a schema cannot be saved, or undefined if it can. The message completes a sentence about the schema. */
    findProblem: async (schema: JsonObject, { owner, group }: Tenant): Promise<SchemaProblem | undefined> => {
      const compiled = isSmall(measureSchema(schema)) ? compileHere(schema) : 'slow'
      if (compiled !== 'slow') return compiled.ok ? undefined : { kind: 'invalid', message: compiled.error }
      const outcome = await run(owner, { task: 'save', schema }, { group })
      if (!outcome.ok) return explainUnsaved(outcome.error, timeLimitMs)
      return outcome.value.kind === 'invalid' ? { kind: 'invalid', message: outcome.value.problem } : undefined
    },
  }
}

export type SchemaChecks = ReturnType<typeof createSchemaChecks>
