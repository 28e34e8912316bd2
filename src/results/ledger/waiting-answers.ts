import type { CallAccount } from '../../runtime/call/call-account.ts'
import type { PassedResult, ToolResult } from '../../runtime/call/compiled-server.ts'

/** A call that was recorded, what was sent of its answer, and what is known of the rest. */
export type WaitingAnswer = { account: CallAccount; sent: ToolResult | PassedResult; bytes: number }

/** Answers that wait to be counted, first in, first out, bounded by number and by size; one may be of any size. */
export const createWaitingAnswers = ({ maxAnswers, maxBytes }: { maxAnswers: number; maxBytes: number }) => {
  let waiting: WaitingAnswer[] = []
  let heldBytes = 0
  return {
    /** Whether another answer of this size may be held. */
    hasRoom: (bytes: number): boolean =>
      waiting.length === 0 || (waiting.length < maxAnswers && heldBytes + bytes <= maxBytes),
    push: (answer: WaitingAnswer): void => {
      heldBytes += answer.bytes
      waiting.push(answer)
    },
    /** The next ones, up to so many bytes; one at least where there is any. */
    take: (upToBytes: number): WaitingAnswer[] => {
      let bytes = 0
      let length = 0
      for (const answer of waiting) {
        if (length > 0 && bytes + answer.bytes > upToBytes) break
        bytes += answer.bytes
        length++
      }
      const taken = waiting.slice(0, length)
      waiting = waiting.slice(length)
      heldBytes -= bytes
      return taken
    },
    /** They are the next ones again. */
    putBack: (answers: readonly WaitingAnswer[]): void => {
      for (const { bytes } of answers) heldBytes += bytes
      waiting = [...answers, ...waiting]
    },
    size: (): number => waiting.length,
  }
}
