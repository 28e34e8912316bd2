import { isRequestId, metaOf, type RequestMessage } from '../message.ts'
import { notification } from '../protocol.ts'

/** Delay before the first progress notification of a slow call. */
const FIRST_AFTER_MS = 1_000
/** Interval between progress notifications. Some clients give up after a minute without one. */
const EVERY_MS = 5_000

/**
 * Sends `notifications/progress` at intervals while a request runs, if the client asked for it
 * (basic/utilities/progress). Returns a function that stops it, or undefined if the client did not ask.
 */
export const startProgress = (request: RequestMessage, send: (json: string) => void): (() => void) | undefined => {
  const token = metaOf(request.params)?.progressToken
  if (!isRequestId(token)) return undefined
  let seconds = FIRST_AFTER_MS / 1_000
  const tick = (): void => {
    const params = { progressToken: token, progress: seconds, message: `Running for ${seconds} s` }
    send(notification('notifications/progress', params))
    seconds += EVERY_MS / 1_000
    timer = setTimeout(tick, EVERY_MS)
  }
  let timer = setTimeout(tick, FIRST_AFTER_MS)
  return () => clearTimeout(timer)
}
