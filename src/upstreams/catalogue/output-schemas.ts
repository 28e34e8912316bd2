import { setImmediate } from 'node:timers/promises'
import { Ajv } from 'ajv'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { CatalogueFlag, CatalogueItem } from './catalogue.ts'
import {
  MAX_OUTPUT_SCHEMA_CHARS,
  MAX_OUTPUT_SCHEMA_NODES,
  MAX_OUTPUT_SCHEMAS_CHARS,
  MAX_OUTPUT_SCHEMAS_NODES,
} from './catalogue-limits.ts'
import { addFlag, shortName } from './clean-items.ts'

/** Maximum time spent compiling schemas before yielding to the event loop. */
const YIELD_AFTER_MS = 10
/** The compiler's message quotes the schema, so it can be long. */
const MAX_MESSAGE_CHARS = 100

/** Compiles the schema as clients do, but without inlining references, which could make it grow without limit. */
const findProblem = (schema: JsonObject): string | undefined => {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    inlineRefs: false,
    logger: false,
  })
  try {
    ajv.compile(schema)
    return undefined
  } catch (error) {
    return `cannot be compiled: ${shortName(error instanceof Error ? error.message : '').slice(0, MAX_MESSAGE_CHARS)}`
  }
}

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

/** Removes output schemas that clients cannot compile. Many clients reject the whole list if it contains one. */
export const dropBadOutputSchemas = async (
  tools: readonly CatalogueItem[],
  flags: CatalogueFlag[],
): Promise<CatalogueItem[]> => {
  const checked: CatalogueItem[] = []
  const isTooLarge = createSizeLimit()
  let resumedAt = performance.now()
  for (const tool of tools) {
    const { outputSchema, ...rest } = tool.declared
    if (!isJsonObject(outputSchema)) {
      checked.push(tool)
      continue
    }
    const problem = isTooLarge(outputSchema) ? 'is too large, alone or with the others' : findProblem(outputSchema)
    if (problem === undefined) checked.push(tool)
    else {
      checked.push({ ...tool, declared: rest })
      addFlag(flags, { kind: 'tool', item: shortName(tool.name), message: `its outputSchema ${problem}; left out` })
    }
    if (performance.now() - resumedAt < YIELD_AFTER_MS) continue
    await setImmediate()
    resumedAt = performance.now()
  }
  return checked
}
