import type { Caller, CompiledPassthrough } from '../../execution/index.ts'
import { UpstreamError } from '../../upstreams/index.ts'
import type { Exchange } from '../exchange.ts'
import type { Mounted } from '../mounted.ts'
import type { StreamAccess, StreamWatch } from '../stream-access.ts'

/** What is known of a request from when it is let in until the last of it is over; then history gets it. */
export type Passage = {
  status: number | undefined
  error: string | undefined
  requestBytes: number
  responseBytes: number
  /** It has become a stream without an end, which `end` ends when its caller may not have it any more, or the server goes. */
  becomeStream: (end: () => void) => void
  /** Its answer takes a while: `cut` ends it when its caller may not have it any more, or the server is gone. */
  lasts: (cut: () => void) => void
}

export type PassageParts = {
  exchange: Exchange
  mounted: Mounted
  caller: Caller
  passthrough: CompiledPassthrough
  /** As the caller asked for it, without its query. */
  url: string
  access: StreamAccess
  /** Whether the process stops: what is asked has its answer first. */
  isStopping: () => boolean
  /** Tells when all of it is over. */
  onceOver: (end: () => void) => void
}

/** Of a request that ended with no answer, and nobody to refuse it to. */
const LEFT = 'The caller left before the upstream answered.'

const textOf = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

const wayOf = (passthrough: CompiledPassthrough | undefined) =>
  passthrough?.way.ok === true ? passthrough.way.value : undefined

export const beginPassage = (parts: PassageParts): Passage => {
  const { exchange, mounted, caller, passthrough, url } = parts
  const { method = '', headers } = exchange.incoming
  const client = textOf(headers['user-agent'])
  const startedAt = new Date()
  const startedMs = performance.now()
  const letGo = mounted.holdOpen()
  let unsubscribe = (): void => {}
  let isDone = false
  /** Only what lasts is told of changes: to be among those who are is dear for what is over at once. */
  const watch = (whenAccessEnds: () => void, whenServiceEnds: () => void): void => {
    if (isDone) return
    const { checkAccess, beat } = parts.access.watch(exchange, mounted, caller, { beat: () => {} }, whenAccessEnds)
    const account = wayOf(passthrough)?.account
    /** The upstream was shown the token of an account, which may be taken back as access may. */
    const checkAll: StreamWatch['checkAccess'] = (policy, userId) => {
      checkAccess(policy, userId)
      if (account === undefined || (userId !== undefined && userId !== caller?.userId)) return
      account.assertConnected(caller?.userId).catch(error => error instanceof UpstreamError && whenAccessEnds())
    }
    const subscriber = { checkAccess: checkAll, beat, listChanged: () => {}, end: whenServiceEnds }
    mounted.subscribe(subscriber)
    unsubscribe = () => mounted.unsubscribe(subscriber)
  }
  /** Whether the server has become another one, or is gone, since the request came. */
  const isOver = (): boolean => mounted.isEnded || wayOf(mounted.router.server.passthrough) !== wayOf(passthrough)

  const passage: Passage = {
    status: undefined,
    error: undefined,
    requestBytes: 0,
    responseBytes: 0,
    becomeStream: end => {
      if (isOver()) end()
      else watch(end, end)
    },
    lasts: cut => {
      const goOn = (): void => {
        if (mounted.isEnded && !parts.isStopping()) cut()
        // Whoever is told of an end is told of nothing more.
        else watch(cut, () => queueMicrotask(goOn))
      }
      goOn()
    },
  }
  parts.onceOver(() => {
    isDone = true
    unsubscribe()
    letGo()
    const { status, requestBytes, responseBytes } = passage
    const error = passage.error ?? (status === undefined ? LEFT : undefined)
    const durationMs = performance.now() - startedMs
    passthrough.record({
      method,
      url,
      caller,
      client,
      startedAt,
      durationMs,
      status,
      requestBytes,
      responseBytes,
      error,
    })
  })
  return passage
}
