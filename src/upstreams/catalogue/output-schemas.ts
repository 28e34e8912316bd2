import { setImmediate } from 'node:timers/promises'
import { Ajv } from 'ajv'
import { isJsonObject, type JsonObject } from '../../kernel/index.ts'
import type { CatalogueItem } from './catalogue.ts'
import { MAX_OUTPUT_SCHEMA_CHARS, MAX_OUTPUT_SCHEMAS_CHARS } from './catalogue-limits.ts'
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

/**
 * The tools without the output schemas that no client could compile: many refuse the whole list for one of them, and with
 * it what others offer.
 */
export const dropBadOutputSchemas = async (tools: readonly CatalogueItem[], flags: Flags): Promise<CatalogueItem[]> => {
  const kept: CatalogueItem[] = []
  let chars = 0
  let turnSince = performance.now()
  for (const tool of tools) {
    const { outputSchema, ...rest } = tool.declared
    if (!isJsonObject(outputSchema)) {
      kept.push(tool)
      continue
    }
    const { length } = JSON.stringify(outputSchema)
    chars += length
    const isTooLarge = length > MAX_OUTPUT_SCHEMA_CHARS || chars > MAX_OUTPUT_SCHEMAS_CHARS
    const problem = isTooLarge ? 'is too large, alone or with the others' : problemOf(outputSchema)
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
