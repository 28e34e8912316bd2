import type { CallResult } from '../../history/call-result.ts'
import { routeOf } from '../../mcp/registry/mounted-server.ts'
import type { ServerRequest } from '../../mcp/server-request.ts'
import type { StreamWatch, WatchAccess } from '../../mcp/streams/stream-access.ts'
import type { CompiledPassthrough } from '../../runtime/call/compiled-passthrough.ts'
import { CallTimer } from '../../runtime/call-timer.ts'
import { UpstreamError } from '../../upstreams/connection/upstream-error.ts'

/** The history record of a forwarded request, from admission to its end. */
export type Passage = {
  /** Measures the request. */
  timer: CallTimer
  status: number | undefined
  requestBytes: number
  responseBytes: number
  /** Notes why the request failed, and how it ended. Only the first failure counts. */
  fail: (error: string, callResult?: CallResult) => void
  /** Marks the response as an endless stream. `end` is called when the caller loses access or the server changes. */
  markStream: (end: () => void) => void
  /** Marks a slow response. `cut` is called when the caller loses access or the server is deleted. */
  markSlow: (cut: () => void) => void
}

export type PassageParts = {
  request: ServerRequest
  passthrough: CompiledPassthrough
  /** The requested URL without its query. */
  url: string
  watchAccess: WatchAccess
  /** Whether the process is stopping. Running requests still get their responses. */
  isStopping: () => boolean
  /** Registers a function that runs when the request is over. */
  onEnd: (end: () => void) => void
}

/** The error recorded if the client disconnected before there was a response or a refusal to send. */
const CLIENT_LEFT = 'The client disconnected before the MCP server responded.'

export const startPassage = (parts: PassageParts): Passage => {
  const { request, passthrough, url } = parts
  const { http, mounted, caller } = request
  const { method = '', headers } = http.incoming
  const client = headers['user-agent']
  const timer = new CallTimer()
  const release = mounted.holdOpen()
  let unsubscribe = (): void => {}
  let isDone = false
  let failure: { error: string; callResult: CallResult } | undefined
  /** Subscribes to changes of access. Only for long responses, because subscribing is too expensive for short ones. */
  const watch = (whenAccessEnds: () => void, whenServiceEnds: () => void): void => {
    if (isDone) return
    const { checkAccess, beat } = parts.watchAccess(request, { beat: () => {} }, whenAccessEnds)
    const account = routeOf(passthrough)?.account
    /** Also checks that the account whose token was sent to the upstream is still connected. */
    const checkAll: StreamWatch['checkAccess'] = (policy, userId) => {
      checkAccess(policy, userId)
      if (account === undefined || (userId !== undefined && userId !== caller?.userId)) return
      account.assertConnected(caller?.userId).catch(error => error instanceof UpstreamError && whenAccessEnds())
    }
    const subscriber = { checkAccess: checkAll, beat, listChanged: () => {}, end: whenServiceEnds }
    mounted.subscribe(subscriber)
    unsubscribe = () => mounted.unsubscribe(subscriber)
  }
  /** Returns whether the server was deleted or its upstream changed after the request arrived. */
  const isOver = (): boolean => mounted.isEnded || routeOf(mounted.router.server.passthrough) !== routeOf(passthrough)

  const passage: Passage = {
    timer,
    status: undefined,
    requestBytes: 0,
    responseBytes: 0,
    fail: (error, callResult = 'failed') => {
      failure ??= { error, callResult }
    },
    markStream: end => {
      if (isOver()) end()
      else watch(end, end)
    },
    markSlow: cut => {
      const watchAgain = (): void => {
        // Subscribes again, because `end` removes the subscriber. A server that has ended would call it at once.
        if (!mounted.isEnded) watch(cut, () => queueMicrotask(watchAgain))
        else if (!parts.isStopping()) cut()
      }
      watchAgain()
    },
  }
  parts.onEnd(() => {
    isDone = true
    unsubscribe()
    release()
    const { status, requestBytes, responseBytes } = passage
    if (status === undefined) passage.fail(CLIENT_LEFT)
    const durationMs = timer.end()
    passthrough.record({
      method,
      url,
      caller,
      client,
      requestId: http.requestId,
      startedAt: timer.startedAt,
      durationMs,
      timing: timer.timing(),
      attempts: timer.attempts(),
      status,
      requestBytes,
      responseBytes,
      error: failure?.error,
      callResult: failure?.callResult,
    })
  })
  return passage
}
