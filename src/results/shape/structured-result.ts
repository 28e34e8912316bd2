import { parseIfJson } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { BlocksResult, ToolResult } from '../../runtime/call/tool-result.ts'
import type { SchemaTrim, SchemaTrimResult } from '../../tools/schemas/schema-check.ts'
import type { Masker } from '../mask/masking.ts'

/** A result, and how the response differs from the tool's output schema, if it does. */
export type ShapedResult<Result = ToolResult> = {
  result: Result
  /** For builders, without a period at the end, such as `items[].name must be string; id must be integer`. */
  schemaMismatch?: string | undefined
}

/** Maximum length of a mismatch. It may quote names of the response. */
const MAX_MISMATCH_CHARACTERS = 1_000

type Unmatched = Exclude<SchemaTrimResult, { kind: 'match' }>

/** Returns an empty text if nothing differs. */
const describe = (checked: Unmatched, pick: 'mismatches' | 'unmasked'): string => {
  const text = checked.kind === 'trimmed' ? checked[pick].join('; ') : checked.message
  return text.slice(0, MAX_MISMATCH_CHARACTERS).toWellFormed()
}

/**
 * Adds structured content without any members to a result that cannot have other: clients refuse results without it if
 * the tool declares an output schema.
 */
export const withoutStructure = (result: BlocksResult, schemaMismatch: string): ShapedResult<BlocksResult> => ({
  result: { ...result, structuredContent: {} },
  schemaMismatch,
})

/**
 * Returns a text as it is, and as structured content the part of its JSON that matches the tool's output schema. The
 * call never fails because of the schema. Returns undefined if the text is not JSON. `received` is the text before it was
 * masked: an API that answered as declared is not said to differ because of a mask. It is undefined for a text that was
 * shaped, because only masked texts are shaped. Then, texts with a mask are not said to differ.
 */
export const structuredResult = async (
  text: string,
  trim: SchemaTrim,
  masker: Masker,
  signal: StopSignal | undefined,
  received?: string,
): Promise<ShapedResult<BlocksResult> | undefined> => {
  const parsed = parseIfJson(text)
  if (parsed === undefined) return undefined
  // The masker returns the same object if it contains no secrets.
  const masked = await masker.long.json(parsed, signal)
  const content: BlocksResult['content'] = [{ type: 'text', text: masked === parsed ? text : JSON.stringify(masked) }]
  const checked = await trim(masked, signal)
  if (checked.kind === 'match') return { result: { content, structuredContent: masked } }
  const left = checked.kind === 'trimmed' ? checked.value : undefined
  const result = { content, structuredContent: left ?? {} }
  const isMasked = received !== undefined && (masked !== parsed || received !== text)
  const found = isMasked ? await trim(parseIfJson(received) ?? masked, signal) : checked
  const differs = found.kind === 'match' ? '' : describe(found, received === undefined ? 'unmasked' : 'mismatches')
  return differs === '' ? { result } : { result, schemaMismatch: masker.text(differs) }
}

export const NOT_JSON = 'the response is not JSON'
