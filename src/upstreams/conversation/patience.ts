import type { RequestOptions } from '@modelcontextprotocol/client'
import { mcpClient } from '../connection/mcp-client.ts'

/** A request that is kept up by progress, or by questions to its client, comes to an end after this all the same. */
const MAX_REQUEST_MS = 30 * 60_000

/**
 * Lets a request take its time for as long as there are signs of life: `touch` begins its time anew, and while it is
 * paused none passes. `options` go to the client's method in place of those given.
 */
export const createPatience = ({ timeout = MAX_REQUEST_MS, signal, ...rest }: RequestOptions) => {
  const controller = new AbortController()
  let pauses = 0
  const giveUp = (): void => {
    if (pauses > 0) timer.refresh()
    // As the SDK's own timeout, by which it is told from a cancellation.
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
