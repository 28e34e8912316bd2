import type { StopSignal } from '../kernel/stop-signal.ts'

/** One request of a tool or another tenant-steered sender. */
export type OutboundRequest = {
  method: string
  /** Absolute http or https URL. */
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: string | undefined
  /** For the whole call, redirects included. */
  timeoutMs: number
  /** After decompression. */
  maxResponseBytes: number
  signal?: StopSignal | undefined
  /** Asked before each hop, redirects included; false refuses it with kind `blocked`. */
  mayReach?: ((origin: string) => boolean) | undefined
}

export type OutboundResponse = {
  status: number
  statusText: string
  /** Names in lower case; what came more than once is an array. */
  headers: Readonly<Record<string, string | string[]>>
  /** Decompressed. */
  body: Buffer
  /** Where the answer came from, after redirects. */
  url: string
}

export type OutboundFault =
  | 'dns' // the name does not resolve
  | 'refused' // nobody listens there
  | 'reset' // closed or reset before the answer was whole
  | 'connect_timeout'
  | 'timeout' // the whole call's time ran out
  | 'too_large' // body or headers over the limit
  | 'blocked' // the address guard, mayReach, or a forbidden redirect said no
  | 'too_many_redirects'
  | 'tls' // certificate or handshake
  | 'protocol' // not HTTP, or broken HTTP
  | 'encoding' // unknown, stacked or corrupt Content-Encoding
  | 'aborted' // `signal`
  | 'unreachable' // no route, and whatever else the network says

/** A request that got no answer. `message` is ours and may be shown; `cause` may not. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly fault: OutboundFault
  readonly afterMs: number

  constructor(fault: OutboundFault, message: string, afterMs: number, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
    this.afterMs = afterMs
  }
}

/** Answers for an origin inside this process, such as the sample API: never the network. */
export type InProcessOrigin = (request: OutboundRequest) => Promise<OutboundResponse>

export type HttpClient = {
  /** Throws OutboundError when there is no whole answer; any HTTP status is an answer. */
  send: (request: OutboundRequest) => Promise<OutboundResponse>
  close: () => Promise<void>
}
