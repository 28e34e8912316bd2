import type { Masker } from '../results/mask/masking.ts'
import { readText } from '../results/shape/shape.ts'
import { type CallAccount, MAX_COUNTED_CHARACTERS, type NamedTool } from './call/call-account.ts'
import { isErrorResult } from './call/tool-result.ts'
import type { CallOutcome } from './perform-call.ts'

/**
 * Returns what the ledger needs to know about a call of an HTTP tool. `shaped` is the outcome if the tool shapes its
 * results; the text before shaping is the API's, with secrets masked. A cached result has no such text.
 */
export const accountOf = (
  executionId: string,
  tool: NamedTool,
  shaped: CallOutcome | undefined,
  masker: Masker,
): CallAccount => {
  if (shaped?.response === undefined) return { executionId, tool }
  const { response, result } = shaped
  if (isErrorResult(result)) return { executionId, tool }
  const whole = () => {
    const read = readText(response)
    if (read === undefined) return undefined
    const { text } = read
    const scale = Math.max(1, text.length / MAX_COUNTED_CHARACTERS)
    return { tokens: 0, texts: [masker.text(text.slice(0, MAX_COUNTED_CHARACTERS))], scale }
  }
  return { executionId, tool, whole }
}
