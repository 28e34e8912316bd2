import type { Releases } from '../kernel/releases.ts'
import type { StopSignal } from '../kernel/stop-signal.ts'
import type { Credential } from './credentials.ts'
import type { OutboundFault } from './outbound-fault.ts'
import type { RequestTrace } from './request-trace.ts'

/** A request to an address that a tenant may have chosen. */
export type OutboundRequest = {
  /** The organization that the request is made for. Undefined for Patchbay's own requests. */
  organizationId: string | undefined
  method: string
  /** Absolute http or https URL. */
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: string | undefined
  /** Time limit for the whole request, including redirects. */
  timeoutMs: number
  /** After decompression. */
  maxResponseBytes: number
  signal?: StopSignal | undefined
  /** Releases the memory of the response. If undefined, the memory counts as free once the response is returned. */
  releases?: Pick<Releases, 'add'> | undefined
  /** Called for the origin of the request and of each redirect; false fails it with the fault `blocked`. */
  mayReach?: ((origin: string) => boolean) | undefined
  /** Values in the request that may be sent only to certain origins. Checked like `mayReach`. */
  credentials?: readonly Credential[] | undefined
  /** Replaces the secrets in a text. An error does not name an origin that a redirect makes of a secret. */
  mask?: ((text: string) => string) | undefined
  /**
   * Maximum number of retries after a temporary failure, if the method is idempotent: at most `MAX_RETRIES`, and within
   * `timeoutMs`. Default: 0.
   */
  retries?: number | undefined
  /** Measures the request. */
  trace?: RequestTrace | undefined
}

export type OutboundResponse = {
  status: number
  statusText: string
  /** Names are in lower case; repeated headers are arrays. */
  headers: Readonly<Record<string, string | string[]>>
  /** Decompressed. */
  body: Buffer
  /** The final URL, after redirects. */
  url: string
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])

/** Returns whether a request with this method may be sent twice without harm (RFC 9110 §9.2.2). */
export const isIdempotent = (method: string): boolean => IDEMPOTENT.has(method)

export const isSuccess = ({ status }: OutboundResponse): boolean => status >= 200 && status <= 299

/** A request that did not get a complete response. `message` may be shown; `cause` may not. */
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

/** Handles requests to an origin, such as that of the sample API, inside this process and without the network. */
export type InProcessOrigin = (request: OutboundRequest) => Promise<OutboundResponse>

export type HttpClient = {
  /** Throws OutboundError if there is no complete response. Returns responses with any status. */
  send: (request: OutboundRequest) => Promise<OutboundResponse>
  close: () => Promise<void>
}
