import type { RequestOptions } from '@modelcontextprotocol/client'
import { mcpClient } from '../connection/mcp-client.ts'

/** Longest duration of a request, however much progress it reports or questions it asks. */
const MAX_REQUEST_MS = 30 * 60_000

/**
 * A timeout that restarts on activity: `touch` restarts it, `pause` stops it. Pass `options` to the client's method.
 */
export const createActivityTimeout = ({ timeout = MAX_REQUEST_MS, signal, ...rest }: RequestOptions) => {
  const controller = new AbortController()
  let pauses = 0
  const giveUp = (): void => {
    if (pauses > 0) timer.refresh()
    // The SDK's own timeout error, to distinguish it from a cancellation.
    else {
      const { SdkError, SdkErrorCode } = mcpClient()
      controller.abort(new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out', { timeout }))
    }
  }
  const timer = setTimeout(giveUp, timeout)
  const onAbort = (): void => controller.abort(signal?.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    options: { ...rest, timeout: MAX_REQUEST_MS, signal: controller.signal },
    touch: (): void => void timer.refresh(),
    pause: (): (() => void) => {
      pauses++
      return () => {
        pauses--
        timer.refresh()
      }
    },
    end: (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}
