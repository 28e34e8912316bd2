import { createOutputMeter, describeOutputLimit, type OutputLimits } from './output-meter.ts'
import { UpstreamError } from './upstream-error.ts'

export const isEventStream = ({ headers }: Response): boolean =>
  /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')

/**
 * Hands a stream of events on, within its limits, and tells once when it ends, for whatever reason but that the reader
 * wants no more; `cause` is what broke it off.
 */
export const watchStream = (response: Response, limits: OutputLimits, onEnd: (cause: unknown) => void): Response => {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const isTooMuch = createOutputMeter(limits)
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
          if (isTooMuch(value)) {
            const most = describeOutputLimit(limits)
            throw new UpstreamError('too_large', `The upstream sent more than ${most}; have it send less.`)
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
