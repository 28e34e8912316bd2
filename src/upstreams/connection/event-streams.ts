import { createOutputMeter, describeOutputLimit, type OutputLimits } from './output-meter.ts'
import { UpstreamError } from './upstream-error.ts'

export const isEventStream = ({ headers }: Response): boolean =>
  /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')

/**
 * Passes on an event stream within its limits. Calls `onEnd` once when the stream ends or fails, but not when the
 * reader cancels.
 */
export const watchStream = (response: Response, limits: OutputLimits, onEnd: (cause: unknown) => void): Response => {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const exceedsLimit = createOutputMeter(limits)
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async controller => {
        try {
          const { done, value } = await reader.read()
          if (done) {
            controller.close()
            onEnd(undefined)
            return
          }
          if (exceedsLimit(value)) {
            const limit = describeOutputLimit(limits)
            throw new UpstreamError('too_large', `The upstream sent more than ${limit}.`)
          }
          controller.enqueue(value)
        } catch (error) {
          controller.error(error)
          void reader.cancel(error).catch(() => {})
          onEnd(error)
        }
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}
