import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestTrace } from '../../lib/outbound/request-trace.ts'

/** The trace of the call whose requests are being sent. The SDK between a call and its requests passes nothing on. */
const traces = new AsyncLocalStorage<RequestTrace>()

/** Measures the requests that `send` makes, with those to connect first, if it has to. */
export const traceRequests = <Result>(trace: RequestTrace, send: () => Promise<Result>): Promise<Result> =>
  traces.run(trace, send)

/** Returns the trace of the call that is in progress. What a call leaves running, such as a stream, has none later. */
export const findTrace = (): RequestTrace | undefined => {
  const trace = traces.getStore()
  return trace?.isOver === true ? undefined : trace
}
