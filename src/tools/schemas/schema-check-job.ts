import type { ValidateFunction } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { formatNumber } from '../../lib/kernel/format.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { Result } from '../../lib/kernel/result.ts'
import { isDoneWithin } from '../../lib/process/time-limit.ts'
import { compileSchema } from './compile-schema.ts'
import { measureSchema } from './measure-schema.ts'
import { countInstructions } from './pattern-size.ts'
import { type Trimmed, trimValue } from './trim-value.ts'

/** What to do with a value: only to check it, or also to leave out the members that do not match. */
export type ValueTask = 'check' | 'trim'

/** A value to check against a schema, or a schema that is to be saved. `key` identifies the schema. */
export type SchemaCheckJob =
  | { task: ValueTask; key: string; schema: JsonObject; value: JsonValue }
  | { task: 'save'; schema: JsonObject }

/** Where a value does not match (a JSON Pointer, empty for the root), and what is expected there. */
export type Mismatch = { at: string; message: string }

/**
 * `match`: the value matches, or the schema can be saved. `mismatch` and `trimmed`: it does not match. `invalid`: the schema cannot be used; `problem` completes a
 * sentence whose subject is the schema. `slow`: the check exceeded its time limit. `deep`: the value or the schema has
 * too many levels.
 */
export type SchemaCheckOutcome =
  | { kind: 'match' }
  | { kind: 'slow' }
  | { kind: 'deep' }
  | { kind: 'mismatch'; mismatch: Mismatch }
  | { kind: 'trimmed'; trimmed: Trimmed }
  | { kind: 'invalid'; problem: string }

/** Time limit for checking one value, in milliseconds. */
export const CHECK_MS = 250
/** Maximum number of compiled schemas that a process caches. */
const MAX_COMPILED = 100
/** Maximum `SchemaMeasure.nodes` of a schema that can be saved. Recursive schemas are not limited. */
const MAX_SAVED_NODES = 10_000_000

type Compiled = Result<ValidateFunction, string>

/** Returns why the value last passed to the validator does not match. */
const mismatchOf = ({ errors }: ValidateFunction): Mismatch => {
  const [error] = errors ?? []
  return { at: error?.instancePath ?? '', message: error?.message ?? 'does not match the schema' }
}

/** Compiles the validator that a task needs. */
export const compileFor = (task: ValueTask, schema: JsonObject): Compiled =>
  compileSchema(schema, { findsAll: task === 'trim' })

const performTask = (
  task: ValueTask,
  validate: ValidateFunction,
  schema: JsonObject,
  value: JsonValue,
): SchemaCheckOutcome => {
  if (task === 'check') {
    return validate(value) === true ? { kind: 'match' } : { kind: 'mismatch', mismatch: mismatchOf(validate) }
  }
  const trimmed = trimValue(validate, schema, value)
  return trimmed === undefined ? { kind: 'match' } : { kind: 'trimmed', trimmed }
}

/** Performs a task within the time limit. After `slow` and `deep`, the validator must not be used again. */
export const performWithin = (
  task: ValueTask,
  validate: ValidateFunction,
  schema: JsonObject,
  value: JsonValue,
): SchemaCheckOutcome => {
  let used = validate
  let outcome: SchemaCheckOutcome = { kind: 'slow' }
  const perform = (): void => {
    outcome = performTask(task, used, schema, value)
  }
  // An interrupted validator may have left its caches half updated.
  const compileAgain = (): void => {
    const again = compileFor(task, schema)
    if (again.ok) used = again.value
  }
  try {
    return isDoneWithin(CHECK_MS, perform, compileAgain) ? outcome : { kind: 'slow' }
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'deep' }
    throw error
  }
}

/** Checks a schema that is to be saved, in a sandbox, because measuring and compiling it may take seconds. */
const checkSaved = (schema: JsonObject): SchemaCheckOutcome => {
  const { nodes } = measureSchema(schema, countInstructions)
  if (nodes > MAX_SAVED_NODES && nodes < Number.POSITIVE_INFINITY) {
    const limit = formatNumber(MAX_SAVED_NODES)
    const problem = `has more than ${limit} subschemas when all references are expanded. Use fewer references`
    return { kind: 'invalid', problem }
  }
  const compiled = compileSchema(schema)
  return compiled.ok ? { kind: 'match' } : { kind: 'invalid', problem: compiled.error }
}

/** Creates the job's function, which caches compiled schemas. Only the check has a time limit of its own. */
export const createSchemaCheckJob = () => {
  const cache = new LRUCache<string, Compiled>({ max: MAX_COMPILED })

  return (job: SchemaCheckJob): SchemaCheckOutcome => {
    if (job.task === 'save') return checkSaved(job.schema)
    const { task, schema, value } = job
    const key = `${task} ${job.key}`
    const compiled = cache.get(key) ?? compileFor(task, schema)
    cache.set(key, compiled)
    if (!compiled.ok) return { kind: 'invalid', problem: compiled.error }
    const outcome = performWithin(task, compiled.value, schema, value)
    if (outcome.kind === 'slow' || outcome.kind === 'deep') cache.delete(key)
    return outcome
  }
}
