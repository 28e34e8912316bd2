import { findProposedSchema } from '../../imports/proposed-schema.store.ts'
import type { Database } from '../../lib/db/client.ts'
import { type JsonObject, parseIfJson } from '../../lib/kernel/json.ts'
import { decodeText } from '../../results/shape/shape.ts'
import type { ShapingContext } from '../../results/shape/shape-by-rules.ts'
import type { Tool } from '../../tools/tool.ts'
import type { PerformedCall } from '../perform-call.ts'

/** Parsing a longer text would take more than a few milliseconds. */
const MAX_PARSED_CHARS = 1_048_576
const RESULT = { rootName: 'the result', schemaName: 'outputSchema' }

/**
 * Returns the output schema that the description of an imported tool proposes, if the response matches it. Undefined if
 * the tool has one already, or shapes its responses: the schema is that of the whole response.
 */
export const findMatchedSchema = async (
  db: Database,
  tool: Tool,
  { callResult, response }: Pick<PerformedCall, 'callResult' | 'response'>,
  context: ShapingContext,
  signal: AbortSignal,
): Promise<JsonObject | undefined> => {
  const isOpen = tool.outputSchema === undefined && tool.response === undefined
  if (!isOpen || callResult !== 'success' || response === undefined) return undefined
  const text = decodeText(response)?.text ?? ''
  const value = text.length <= MAX_PARSED_CHARS ? parseIfJson(text) : undefined
  const proposed = value === undefined ? undefined : await findProposedSchema(db, tool.id)
  if (value === undefined || proposed === undefined) return undefined
  const checked = await context.schemaChecks.createCheck(proposed, RESULT, context)(value, signal)
  return checked.kind === 'match' ? proposed : undefined
}
