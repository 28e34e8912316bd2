import type { JsonValue } from '../kernel/index.ts'
import { isRequestId, metaOf, type RequestMessage } from './message.ts'

/** A call that takes longer than this tells a client that asked for progress that it is still running. */
const FIRST_AFTER_MS = 1_000
/** Between two such notices; clients give up after a minute of silence. */
const EVERY_MS = 5_000

const notice = (progressToken: JsonValue, seconds: number): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken, progress: seconds, message: `Running for ${seconds} s` },
  })

/**
 * Sends `notifications/progress` from time to time while a request runs, if its client asked for it
 * (basic/utilities/progress). Answers how to stop; undefined when nothing was asked for.
 */
export const startProgress = (request: RequestMessage, send: (json: string) => void): (() => void) | undefined => {
  const token = metaOf(request.params)?.progressToken
  if (!isRequestId(token)) return undefined
  let seconds = FIRST_AFTER_MS / 1_000
  const tick = (): void => {
    send(notice(token, seconds))
    seconds += EVERY_MS / 1_000
    timer = setTimeout(tick, EVERY_MS)
  }
  let timer = setTimeout(tick, FIRST_AFTER_MS)
  return () => clearTimeout(timer)
}
