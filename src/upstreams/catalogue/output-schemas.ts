import { setImmediate } from 'node:timers/promises'
import { formatDuration } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job } from '../../lib/worker/job.ts'
import { countValues } from '../../tools/schemas/measure-schema.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import type { CatalogueFlag, CatalogueItem } from './catalogue.ts'
import {
  MAX_OUTPUT_SCHEMA_CHARS,
  MAX_OUTPUT_SCHEMA_NODES,
  MAX_OUTPUT_SCHEMAS_CHARS,
  MAX_OUTPUT_SCHEMAS_NODES,
} from './catalogue-limits.ts'
import { addFlag, shortName } from './clean-items.ts'
import { type CompileProblem, findCompileProblem } from './compile-output-schemas.ts'

/** Compiles large schemas in a sandbox. */
export type CompileOutputSchemas = Job<readonly JsonObject[], CompileProblem[]>

/** Whose schemas are compiled. `signal` aborts when Patchbay stops. */
type Requester = Tenant & { signal: StopSignal }

/** Maximum time spent compiling schemas before yielding to the event loop. */
const YIELD_AFTER_MS = 10
/** Schemas with more values are compiled in a sandbox. Some of the maximum size take seconds. */
const MAX_VALUES_HERE = 250
/** The compiler's message quotes the schema, so it can be long. */
const MAX_MESSAGE_CHARS = 100

/** Counts arrays and objects, including the value itself. */
const countNodes = (value: JsonValue): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((count, member) => count + countNodes(member), 1)
    : 0

/** Returns a function that adds a schema to the totals and returns whether the schema or a total is too large. */
const createSizeLimit = () => {
  let chars = 0
  let nodes = 0
  return (schema: JsonObject): boolean => {
    const { length } = JSON.stringify(schema)
    chars += length
    if (length > MAX_OUTPUT_SCHEMA_CHARS || chars > MAX_OUTPUT_SCHEMAS_CHARS) return true
    const count = countNodes(schema)
    nodes += count
    return count > MAX_OUTPUT_SCHEMA_NODES || nodes > MAX_OUTPUT_SCHEMAS_NODES
  }
}

const explain = (problem: CompileProblem): CompileProblem =>
  problem === undefined ? undefined : `cannot be compiled: ${shortName(problem).slice(0, MAX_MESSAGE_CHARS)}`

const isLarge = (schema: JsonObject): boolean =>
  countValues(schema, MAX_VALUES_HERE, Number.POSITIVE_INFINITY) > MAX_VALUES_HERE

/** Compiles large schemas and returns their problems. Throws an UpstreamError if they could not be compiled now. */
const compileLarge = async (
  schemas: readonly JsonObject[],
  { owner, group, signal }: Requester,
  { run, timeLimitMs }: CompileOutputSchemas,
): Promise<CompileProblem[]> => {
  if (schemas.length === 0) return []
  const outcome = await run(owner, schemas, { group, signal })
  if (outcome.ok) return outcome.value.map(explain)
  switch (outcome.error) {
    case 'time':
      return schemas.map(
        () => `takes longer than ${formatDuration(timeLimitMs)} to compile, alone or with the other large ones`,
      )
    case 'memory':
      return schemas.map(() => 'takes too much memory to compile, alone or with the other large ones')
    case 'queue_full':
    case 'not_started':
    case 'aborted':
    case 'closed': {
      const message = 'Its output schemas could not be checked in time: the machine is busy. Refresh it later.'
      throw new UpstreamError('unavailable', message)
    }
  }
}

/**
 * Returns the problem of each output schema that clients cannot compile. Small schemas are compiled at once, in turns
 * with the event loop, and the large ones in a sandbox.
 */
const findProblems = async (
  schemas: readonly JsonObject[],
  requester: Requester,
  compile: CompileOutputSchemas,
): Promise<ReadonlyMap<JsonObject, string>> => {
  const problems = new Map<JsonObject, string>()
  const note = (schema: JsonObject, problem: CompileProblem): void => {
    if (problem !== undefined) problems.set(schema, problem)
  }
  const large: JsonObject[] = []
  const isTooLarge = createSizeLimit()
  let resumedAt = performance.now()
  for (const schema of schemas) {
    if (isTooLarge(schema)) note(schema, 'is too large, alone or with the others')
    else if (isLarge(schema)) large.push(schema)
    else note(schema, explain(findCompileProblem(schema)))
    if (performance.now() - resumedAt < YIELD_AFTER_MS) continue
    await setImmediate()
    resumedAt = performance.now()
  }
  const found = await compileLarge(large, requester, compile)
  for (const [index, schema] of large.entries()) note(schema, found[index])
  return problems
}

/** Removes output schemas that clients cannot compile. Many clients reject the whole list if it contains one. */
export const dropBadOutputSchemas = async (
  tools: readonly CatalogueItem[],
  flags: CatalogueFlag[],
  requester: Requester,
  compile: CompileOutputSchemas,
): Promise<CatalogueItem[]> => {
  const schemas = tools.flatMap(({ declared: { outputSchema } }) => (isJsonObject(outputSchema) ? [outputSchema] : []))
  const problems = await findProblems(schemas, requester, compile)
  return tools.map(tool => {
    const { outputSchema, ...rest } = tool.declared
    const problem = isJsonObject(outputSchema) ? problems.get(outputSchema) : undefined
    if (problem === undefined) return tool
    addFlag(flags, { kind: 'tool', item: shortName(tool.name), message: `its outputSchema ${problem}; left out` })
    return { ...tool, declared: rest }
  })
}
