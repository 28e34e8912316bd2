import { setTimeout as wait } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { createStreamingFetch, type StreamingFetchOptions } from '../../lib/outbound/streaming-fetch.ts'
import { createAuthorizedFetch } from '../oauth-client/authorized-fetch.ts'
import type { Authorizer } from '../oauth-client/authorizer.ts'
import type { RemoteConfig, ResolvedConfig } from '../upstream.ts'
import { findTrace } from './call-trace.ts'
import { mcpClient } from './mcp-client.ts'
import type { MessageLimit } from './message-limit.ts'
import { createAwaitedRequests, createMessageScreen } from './message-screen.ts'
import type { OutputLimits } from './output-meter.ts'
import { createRemoteFetch } from './remote-fetch.ts'
import { guardMessages, watchRequests } from './transport-guards.ts'
import { UpstreamError } from './upstream-error.ts'

/** The settings of the outbound guard. */
export type RemoteNetwork = Pick<
  StreamingFetchOptions,
  | 'policy'
  | 'maxRedirects'
  | 'connectTimeoutMs'
  | 'ownOrigins'
  | 'findCreator'
  | 'lookup'
  | 'findBan'
  | 'maxResponseBytes'
  | 'memory'
>

/**
 * Maximum number of concurrent requests and streams per connection. Connections share no sockets, so organizations need
 * no share of them.
 */
const MAX_SOCKETS = 256
/** An upper bound only, because each operation has its own, shorter timeout. */
const HEADERS_TIMEOUT_MS = 10 * 60_000
/** Maximum idle time within a JSON response. */
const BODY_IDLE_MS = 30_000
/** Maximum idle time of a stream. The SDK reopens the notification stream. */
const STREAM_IDLE_MS = 30 * 60_000
/** Time limit for ending a session. */
const SESSION_END_TIMEOUT_MS = 1_000

/** Limits of the delay before the SDK reopens a stream, which the upstream chooses (`retry:`). */
const MIN_REOPEN_MS = 1_000
const MAX_REOPEN_MS = 60 * 60_000

const scheduleReopening = (reopen: () => void, delayMs: number): (() => void) => {
  const timer = setTimeout(reopen, Math.min(Math.max(delayMs, MIN_REOPEN_MS), MAX_REOPEN_MS)).unref()
  return () => clearTimeout(timer)
}

const parseUrl = (text: string): URL => {
  const url = URL.parse(text)
  if (url === null) throw new UpstreamError('misconfigured', 'The URL is not valid.')
  return url
}

/** MCP over HTTP with the SDK's transports. Every request goes through the outbound guard. */
export const createRemoteTransport = (
  {
    organizationId,
    credentials,
    transport: kind,
    url: text,
    headers,
  }: RemoteConfig & Pick<ResolvedConfig, 'organizationId' | 'credentials'>,
  network: RemoteNetwork,
  limits: OutputLimits,
  authorizer: Authorizer | undefined,
  limit: MessageLimit,
) => {
  const url = parseUrl(text)
  const guarded = createStreamingFetch({
    ...network,
    organizationId,
    credentials,
    maxSockets: MAX_SOCKETS,
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    bodyIdleMs: BODY_IDLE_MS,
    streamIdleMs: STREAM_IDLE_MS,
    findTrace,
  })
  let failure: UpstreamError | undefined
  const { fetch } = guarded
  const awaited = createAwaitedRequests()
  const send = (message: JSONRPCMessage): void => void transport.send(message).catch(() => {})
  const remote = createRemoteFetch({
    fetch: authorizer === undefined ? fetch : createAuthorizedFetch({ fetch, authorizer, url: text }),
    isSse: kind === 'sse',
    limits,
    screen: createMessageScreen({ limit, awaited, send }),
    onLost: error => {
      failure ??= error
      void transport.close()
    },
  })
  // The guard follows redirects itself and checks each one.
  const options = { fetch: remote.fetch, requestInit: { headers: { ...headers } }, redirectPolicy: 'follow' as const }
  const { SSEClientTransport, StreamableHTTPClientTransport } = mcpClient()
  const http =
    kind === 'http'
      ? new StreamableHTTPClientTransport(url, { ...options, reconnectionScheduler: scheduleReopening })
      : undefined
  const transport: Transport = http ?? new SSEClientTransport(url, options)
  guardMessages(transport, awaited)
  if (http !== undefined) watchRequests(transport, remote.takeStreamFault)

  return {
    transport,
    /** Whether the upstream has assigned a session. A stream of HTTP+SSE is one. */
    hasSession: (): boolean => http === undefined || http.sessionId !== undefined,
    failure: (): UpstreamError | undefined => failure,
    lastFault: remote.lastFault,
    /** Ends the session at the upstream, if there is one, and closes all connections. */
    close: async (): Promise<void> => {
      if (http?.sessionId !== undefined && failure === undefined) {
        const ended = http.terminateSession().catch(() => {})
        await Promise.race([ended, wait(SESSION_END_TIMEOUT_MS, undefined, { ref: false })])
      }
      failure ??= new UpstreamError('aborted', 'The connection was closed.')
      await transport.close()
      await guarded.close()
    },
  }
}
