import { findExactNumber } from '../../lib/json/exact-numbers.ts'
import { parseJsonText } from '../../lib/json/parse-json-text.ts'
import { valuesAt } from '../../lib/json/path.ts'
import { type JsonValue, parseIfJson } from '../../lib/kernel/json.ts'
import type { ShapingContext } from '../../results/shape/shape-by-rules.ts'
import { type Pagination, parseCursorPath } from '../../tools/response/pagination.ts'

/** How to find the cursor of the next page, and the parameter that takes it. */
export type CursorPlan = {
  parameter: string
  /** Returns the cursor in the text of a response, or undefined if there is none. */
  read: (text: string) => Promise<string | number | undefined>
}

/** Longer texts are read in a process, because that takes more than a few milliseconds. */
const MAX_HERE_CHARACTERS = 256 * 1_024
/** Maximum memory of a text that is read here, in bytes. */
const MAX_HERE_HEAP = 16 * 1_024 * 1_024
/** A longer cursor would take more tokens than a page is worth. */
export const MAX_CURSOR_CHARACTERS = 4_096

/** A number with more digits than a double holds is passed as a string of its digits. */
const toCursor = (value: JsonValue | undefined): string | number | undefined => {
  const cursor = value === undefined ? undefined : (findExactNumber(value) ?? value)
  if (typeof cursor === 'number') return cursor
  const isUsable = typeof cursor === 'string' && cursor !== '' && cursor.length <= MAX_CURSOR_CHARACTERS
  return isUsable ? cursor : undefined
}

/** Plans how to find the cursor. Returns undefined if the tool has no path to it. */
export const planCursor = (
  pagination: Pagination | undefined,
  { shaper, owner, group }: Pick<ShapingContext, 'shaper' | 'owner' | 'group'>,
): CursorPlan | undefined => {
  const path = pagination && parseCursorPath(pagination.at)
  if (pagination === undefined || path?.ok !== true) return undefined
  const steps = path.value
  const expression = steps
    .map(step => (step.kind === 'item' ? `[${step.index}]` : `.${JSON.stringify(step.name)}`))
    .join('')
    .replace(/^\./, '')

  const readInProcess = async (text: string): Promise<JsonValue | undefined> => {
    const outcome = await shaper.shape(
      { owner, group },
      {
        texts: [text],
        isHtml: false,
        shaping: { transform: { language: 'jmespath', expression } },
        compactTables: false,
        isStructured: true,
        maxBytes: 2 * MAX_CURSOR_CHARACTERS,
        isCounted: false,
      },
    )
    const [utf8] = outcome.kind === 'shaped' ? outcome.utf8s : []
    return utf8 && parseIfJson(new TextDecoder().decode(utf8))
  }

  return {
    parameter: pagination.parameter,
    read: async text => {
      if (text.length > MAX_HERE_CHARACTERS) return toCursor(await readInProcess(text))
      const parsed = parseJsonText(text, MAX_HERE_HEAP)
      return parsed.ok ? toCursor(valuesAt(parsed.value.value, steps)[0]) : undefined
    },
  }
}
