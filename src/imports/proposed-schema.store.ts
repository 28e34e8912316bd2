import { z } from 'zod'
import type { Database } from '../lib/db/client.ts'
import type { JsonObject } from '../lib/kernel/json.ts'

const Schema = z.record(z.string(), z.json()).nullish()

/**
 * Returns the output schema that an imported tool's description proposes. It is only a proposal until a response has
 * matched it: descriptions are often wrong about responses. The caller must have checked access to the tool.
 */
export const findProposedSchema = async (db: Database, toolId: string): Promise<JsonObject | undefined> => {
  const source = await db.toolSource.findUnique({ where: { toolId }, select: { outputSchema: true } })
  return Schema.parse(source?.outputSchema) ?? undefined
}
