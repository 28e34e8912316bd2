import type { CallContext, Caller } from '../execution/index.ts'
import { createStop, type Stop } from '../kernel/index.ts'
import type { RequestId } from './message.ts'

/** One request under way, which is its own context. Whoever cancelled it gets no answer. */
export type Call = CallContext & {
  id: RequestId
  signal: Stop
  /** Sends the client a message before the answer; there while the transport can. */
  say: ((json: string) => void) | undefined
}

export const createCall = (id: RequestId, caller: Caller, client: string | undefined): Call => ({
  id,
  caller,
  client,
  signal: createStop(),
  link: undefined,
  account: undefined,
  say: undefined,
})
