import type { Result } from '../../lib/kernel/result.ts'
import type { PassthroughRoute } from '../../passthrough/route/passthroughs.ts'
import type { Caller } from '../../servers/access/access.ts'

/** A request that was passed on or refused. */
export type PassageRecord = {
  method: string
  /** The requested URL without its query, which may hold what only the caller may see. */
  url: string
  caller: Caller
  /** The client's name. */
  client: string | undefined
  startedAt: Date
  durationMs: number
  /** Status of the upstream's response, if there was one. */
  status: number | undefined
  requestBytes: number
  responseBytes: number
  /** The error that the caller got instead of a response. */
  error: string | undefined
}

/** A server that passes its requests on to its one upstream. */
export type CompiledPassthrough = {
  /** The route to the upstream. The error says what the server lacks. */
  route: Result<PassthroughRoute, string>
  /** Whether a text contains a secret of the upstream's configuration. */
  holdsSecret: (text: string) => boolean
  record: (passage: PassageRecord) => void
}
