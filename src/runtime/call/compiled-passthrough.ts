import type { CallResult } from '../../history/call-result.ts'
import type { CallAttempt, CallTiming } from '../../history/execution-record.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { PassthroughRoute } from '../../passthrough/route/passthroughs.ts'
import type { Caller } from '../../servers/access/access.ts'

export type PassageRecord = {
  method: string
  /** The requested URL without its query, because the query may be private to the caller. */
  url: string
  caller: Caller
  client: string | undefined
  requestId: string
  startedAt: Date
  durationMs: number
  timing: CallTiming
  /** All attempts, if there was more than one. */
  attempts: readonly CallAttempt[] | undefined
  status: number | undefined
  requestBytes: number
  responseBytes: number
  /** The error that the caller received instead of a response. */
  error: string | undefined
  /** How the request ended. Undefined if its status tells. */
  callResult: CallResult | undefined
}

export type CompiledPassthrough = {
  /** The route to the upstream, or an error that says what the server is missing. */
  route: Result<PassthroughRoute, string>
  /** Returns whether a text contains a secret from the upstream's configuration. */
  holdsSecret: (text: string) => boolean
  record: (passage: PassageRecord) => void
}
