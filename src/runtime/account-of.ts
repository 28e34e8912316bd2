import type { CallAccount } from '../call-account.ts'
import { isLongText } from '../compiled-server.ts'
import type { Masker } from '../masking.ts'
import type { CallOutcome } from '../perform-call.ts'
import { readText } from '../shape.ts'
import type { NamedTool } from './tool-totals.ts'

/**
 * What the ledger is told of a call to a tool of ours. `shaped`: what came of it, where the tool shapes its answers: the
 * text before that is the API's, secrets masked. Of an answer that was kept nothing but what is sent is at hand.
 */
export const accountOf = (
  executionId: string,
  tool: NamedTool,
  shaped: CallOutcome | undefined,
  masker: Masker,
): CallAccount => {
  if (shaped?.response === undefined) return { executionId, tool }
  const { response, result } = shaped
  if (!isLongText(result) && result.isError === true) return { executionId, tool }
  const whole = () => {
    const read = readText(response)
    return read && { tokens: 0, texts: [masker.text(read.text)] }
  }
  return { executionId, tool, whole, bytes: response.body.length }
}
