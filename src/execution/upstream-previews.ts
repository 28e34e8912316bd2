import type { AnswerShaping } from '../context/index.ts'
import type { Actor, JsonObject, JsonValue } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import { getServerFor } from '../servers/index.ts'
import type { ExecutionParts } from './compile-tool.ts'
import { previewShaping, type ShapingPreview } from './shape-by-rules.ts'
import { checkOfDeclared } from './shape-passed.ts'

/** An answer that a builder brings, and what is to be done with it. */
export type AnswerToShape = {
  serverId: string
  text: string
  response: AnswerShaping | undefined
  /** That clients are shown; undefined where they are shown none. */
  outputSchema: JsonObject | undefined
}

const parseValue = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Why clients would get an error in place of what was made; undefined where they would not. */
const explainMismatch = (made: string, outputSchema: JsonObject): string | undefined => {
  const value = parseValue(made)
  const mismatch = value === undefined ? 'it is no JSON' : checkOfDeclared(outputSchema)(value)
  return (
    mismatch &&
    `What is made of it does not fit the tool's output schema: ${mismatch}. Make it fit, or give the tool a number of tokens of its own: then clients are shown it without the schema.`
  )
}

/** What is made of the answers of upstreams' tools, shown with one that is at hand. */
export const createUpstreamPreviews = ({
  db,
  shaper,
  limits,
}: Pick<ExecutionParts, 'shaper' | 'limits'> & { db: Database }) => ({
  /** Undefined where there is nothing to show it with. */
  previewUpstreamAnswer: async (
    actor: Actor,
    { serverId, text, response, outputSchema }: AnswerToShape,
  ): Promise<ShapingPreview | undefined> => {
    const { compactTables } = await getServerFor(db, actor, serverId, 'build')
    if (text === '') return undefined
    const place = { shaper, owner: actor.userId, compactTables }
    const preview = await previewShaping(
      { text, type: undefined },
      { response, outputSchema },
      place,
      limits.maxResponseBytes,
    )
    const isChanged = preview.after !== undefined && preview.after !== preview.before
    const mismatch = outputSchema && isChanged ? explainMismatch(preview.after?.text ?? '', outputSchema) : undefined
    return mismatch === undefined ? preview : { ...preview, failure: mismatch }
  },
})
