import type { Result } from '../kernel/index.ts'
import type { Caller } from '../servers/index.ts'
import type { PassthroughWay } from '../upstreams/index.ts'

/** One request that was passed on, or was to be. */
export type Passage = {
  method: string
  /** As the caller asked for it, without a query: that may hold what nobody else is to read. */
  url: string
  caller: Caller
  /** As it calls itself. */
  client: string | undefined
  startedAt: Date
  durationMs: number
  /** Of the upstream's answer, where one came. */
  status: number | undefined
  requestBytes: number
  responseBytes: number
  /** What the caller was told instead of an answer. */
  error: string | undefined
}

/** A server whose requests go to its one upstream as they are. */
export type CompiledPassthrough = {
  /** How they get there; the error says what the server lacks for that. */
  way: Result<PassthroughWay, string>
  /** Whether a text holds a secret of the upstream's configuration. */
  holdsSecret: (text: string) => boolean
  record: (passage: Passage) => void
}
