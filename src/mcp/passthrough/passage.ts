import type { Caller, CompiledPassthrough } from '../../execution/index.ts'
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
}

export type PassageParts = {
  exchange: Exchange
  mounted: Mounted
  caller: Caller
  passthrough: CompiledPassthrough
  /** As the caller asked for it, without its query. */
  url: string
  access: StreamAccess
  /** Tells when all of it is over. */
  onceOver: (end: () => void) => void
}

/** Of a request that ended with no answer, and nobody to refuse it to. */
const LEFT = 'The caller left before the upstream answered.'

const textOf = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

export const beginPassage = (parts: PassageParts): Passage => {
  const { exchange, mounted, caller, passthrough, url } = parts
  const { method = '', headers } = exchange.incoming
  const client = textOf(headers['user-agent'])
  const startedAt = new Date()
  const startedMs = performance.now()
  let watch: StreamWatch | undefined
  let endStream: (() => void) | undefined
  /** From now on no stream may begin. */
  let isEnded = false

  const subscriber = {
    listChanged: () => {},
    checkAccess: (...asked: Parameters<StreamWatch['checkAccess']>) => watch?.checkAccess(...asked),
    beat: () => watch?.beat(),
    end: () => {
      isEnded = true
      endStream?.()
    },
  }
  const letGo = mounted.holdOpen()
  mounted.subscribe(subscriber)

  const passage: Passage = {
    status: undefined,
    error: undefined,
    requestBytes: 0,
    responseBytes: 0,
    becomeStream: end => {
      endStream = end
      if (isEnded) end()
      else watch = parts.access.watch(exchange, mounted, caller, { beat: () => {} }, end)
    },
  }
  parts.onceOver(() => {
    mounted.unsubscribe(subscriber)
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
