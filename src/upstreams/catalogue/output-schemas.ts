import { setImmediate } from 'node:timers/promises'
import { Ajv } from 'ajv'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { CatalogueItem } from './catalogue.ts'
import {
  MAX_OUTPUT_SCHEMA_CHARS,
  MAX_OUTPUT_SCHEMA_NODES,
  MAX_OUTPUT_SCHEMAS_CHARS,
  MAX_OUTPUT_SCHEMAS_NODES,
} from './catalogue-limits.ts'
import { type Flags, shortName } from './clean-items.ts'

/** Schemas are compiled for this long before everybody else has a turn. */
const TURN_MS = 10
/** Of what the compiler says: it quotes the schema. */
const MAX_SAID_CHARS = 100

/** As clients compile it, but that a reference is followed and not copied: no schema grows without end. */
const problemOf = (schema: JsonObject): string | undefined => {
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
    return `cannot be compiled: ${shortName(error instanceof Error ? error.message : '').slice(0, MAX_SAID_CHARS)}`
  }
}

/** Arrays and objects in it, itself too. */
const countNodes = (value: JsonValue): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((count, member) => count + countNodes(member), 1)
    : 0

/** Counts what it is given; answers whether one is too large, or all are together. */
const createMeasure = () => {
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

/**
 * The tools without the output schemas that no client could compile: many refuse the whole list for one of them, and with
 * it what others offer.
 */
export const dropBadOutputSchemas = async (tools: readonly CatalogueItem[], flags: Flags): Promise<CatalogueItem[]> => {
  const kept: CatalogueItem[] = []
  const isTooLarge = createMeasure()
  let turnSince = performance.now()
  for (const tool of tools) {
    const { outputSchema, ...rest } = tool.declared
    if (!isJsonObject(outputSchema)) {
      kept.push(tool)
      continue
    }
    const problem = isTooLarge(outputSchema) ? 'is too large, alone or with the others' : problemOf(outputSchema)
    if (problem === undefined) kept.push(tool)
    else {
      kept.push({ ...tool, declared: rest })
      flags.add({ kind: 'tool', item: shortName(tool.name), message: `its outputSchema ${problem}; it is left out` })
    }
    if (performance.now() - turnSince < TURN_MS) continue
    await setImmediate()
    turnSince = performance.now()
  }
  return kept
}
