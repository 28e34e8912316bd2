import { formatBytes, formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import type { ShapingPreview } from '../../results/shape/shape-by-rules.ts'
import { formatJson, type JsonSegment } from '../overview/format-json.ts'
import type { EditorState } from './tool-editor-state.ts'

/** Limit that keeps the page fast while the user types. */
const MAX_SHOWN_CHARACTERS = 20_000

type Side = { title: string; tokens: string | undefined; size: string; body: readonly JsonSegment[]; isCut: boolean }

const toSide = (title: string, { text, bytes, tokens }: ShapingPreview['before']): Side => {
  const isCut = text.length > MAX_SHOWN_CHARACTERS
  const plain = { text: isCut ? text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed() : text, isKey: false }
  return {
    title,
    tokens: tokens === undefined ? undefined : formatCount(tokens, 'token'),
    size: formatBytes(bytes),
    body: (isCut ? undefined : formatJson(text)) ?? [plain],
    isCut,
  }
}

/** Returns a phrase such as "82 % fewer tokens"; undefined if the tokens were not counted. */
const savingOf = ({ before, after }: ShapingPreview): string | undefined => {
  if (before.tokens === undefined || after?.tokens === undefined || before.tokens === 0) return undefined
  const saved = 1 - after.tokens / before.tokens
  if (Math.abs(saved) < 0.005) return 'same number of tokens'
  return saved > 0 ? `${Math.floor(saved * 100)} % fewer tokens` : `${Math.ceil(-saved * 100)} % more tokens`
}

/** Shows the latest response before and after shaping. */
export const toShapingPreview = ({ form, read, preview, test }: EditorState) => ({
  sample: form.sample,
  ...toSides(preview?.shaping, hintOf(form.sample !== '', read.responseErrors.length > 0, test !== undefined)),
})

/** Builds the two sides of the preview. `hint` says what to do if there is no response to show. */
export const toSides = (shaping: ShapingPreview | undefined, hint: string) => ({
  hint,
  failure: shaping?.failure,
  saving: shaping && savingOf(shaping),
  tokens: shaping?.after?.tokens === undefined ? undefined : formatNumber(shaping.after.tokens),
  encoding: TOKEN_ENCODING,
  sides:
    shaping === undefined
      ? []
      : [...(shaping.after === undefined ? [] : [toSide('After', shaping.after)]), toSide('Before', shaping.before)],
})

const hintOf = (hasSample: boolean, hasErrors: boolean, isSent: boolean): string => {
  if (hasErrors) return 'Fix the errors to preview the response.'
  if (hasSample) return 'Send the request again: the response is no longer stored, or the request is invalid.'
  return isSent
    ? 'This response cannot be shaped. Shaping needs a status from 200 to 299, and a text that is not too large.'
    : 'Send a request to preview the response before and after shaping.'
}
