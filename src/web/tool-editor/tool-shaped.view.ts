import { formatBytes, formatCount, formatNumber } from '../../lib/http/pages/format.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import type { ShapingPreview } from '../../results/shape/shape-by-rules.ts'
import { formatJson, type JsonSegment } from '../overview/format-json.ts'
import type { EditorState } from './tool-editor-state.ts'

/** Of each text, in characters: enough to see what is done, and a page that stays quick while one types. */
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

/** "82 % fewer tokens"; only what was counted. */
const savingOf = ({ before, after }: ShapingPreview): string | undefined => {
  if (before.tokens === undefined || after?.tokens === undefined || before.tokens === 0) return undefined
  const saved = 1 - after.tokens / before.tokens
  if (Math.abs(saved) < 0.005) return 'as many tokens as before'
  return saved > 0 ? `${Math.floor(saved * 100)} % fewer tokens` : `${Math.ceil(-saved * 100)} % more tokens`
}

/** What a model gets of the answer that the tool was last tried with, before and after what is done with it. */
export const toShapedView = ({ form, read, preview }: EditorState) => ({
  sample: form.sample,
  ...toSides(preview?.shaping, hintOf(form.sample !== '', read.responseErrors.length > 0)),
})

/** An answer before and after; `hint`: what is to be done where there is none to show. */
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

const hintOf = (hasSample: boolean, isBroken: boolean): string => {
  if (isBroken) return 'It stands here again once what is wrong with it is mended.'
  return hasSample
    ? 'Send it again: the answer that it was shown with is not kept any more, or the request cannot be read.'
    : 'Send it once: then the answer stands here before and after, while you type.'
}
