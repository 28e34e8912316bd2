import type { CallContext, Caller } from '../execution/index.ts'
import type { RequestId } from './message.ts'

/** One request under way. It is its own context; `signal` costs nothing until somebody asks for it. */
export type Call = CallContext & {
  id: RequestId
  readonly isCancelled: boolean
  /** Whoever cancelled gets no answer. */
  cancel: () => void
}

export const createCall = (id: RequestId, caller: Caller, client: string | undefined): Call => {
  let controller: AbortController | undefined
  let isCancelled = false
  return {
    id,
    caller,
    client,
    get signal() {
      if (controller === undefined) {
        controller = new AbortController()
        if (isCancelled) controller.abort()
      }
      return controller.signal
    },
    get isCancelled() {
      return isCancelled
    },
    cancel: () => {
      isCancelled = true
      controller?.abort()
    },
  }
}
