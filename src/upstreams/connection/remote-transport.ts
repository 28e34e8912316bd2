import type { Transport } from '@modelcontextprotocol/client'
import { createStreamingFetch, type StreamingFetchOptions } from '../../lib/outbound/streaming-fetch.ts'
import { createAuthorizedFetch } from '../oauth-client/authorized-fetch.ts'
import type { Authorizer } from '../oauth-client/authorizer.ts'
import type { RemoteConfig } from '../upstream.ts'
import { boundDepth } from './bound-depth.ts'
import { mcpClient } from './mcp-client.ts'
import type { OutputLimits } from './output-meter.ts'
import { createRemoteFetch } from './remote-fetch.ts'
import { watchRequests } from './request-watch.ts'
import { UpstreamError } from './upstream-error.ts'

/** How an upstream is reached: the guard and its limits. */
export type RemoteNetwork = Pick<
  StreamingFetchOptions,
  'policy' | 'maxRedirects' | 'connectTimeoutMs' | 'ownOrigins' | 'lookup' | 'maxResponseBytes'
>

export type RemoteTransport = {
  transport: Transport
  failure: () => UpstreamError | undefined
  /** The latest request that got no answer. */
  lastFault: () => UpstreamError | undefined
  /** Tells the upstream that the session is over, if there is one, and closes every connection. */
  close: () => Promise<void>
}

/** Requests and streams at once over one connection to an upstream. */
const MAX_SOCKETS = 256
/** From a request to its answer: each operation has its own time, which ends sooner. */
const HEADERS_TIMEOUT_MS = 10 * 60_000
/** Silence in the middle of an answer in JSON. */
const BODY_IDLE_MS = 30_000
/** Silence of a stream; the SDK opens the one for notifications again. */
const STREAM_IDLE_MS = 30 * 60_000
/** What the end of a session may take. */
const GOODBYE_MS = 1_000

const parseUrl = (text: string): URL => {
  const url = URL.parse(text)
  if (url === null) throw new UpstreamError('blocked', 'The URL is not valid; correct it.')
  return url
}

/** MCP over HTTP by the transports of the SDK, each request of which passes the guard of what a tenant may reach. */
export const createRemoteTransport = (
  { transport: kind, url: text, headers }: RemoteConfig,
  network: RemoteNetwork,
  limits: OutputLimits,
  authorizer?: Authorizer,
): RemoteTransport => {
  const url = parseUrl(text)
  const guarded = createStreamingFetch({
    ...network,
    maxSockets: MAX_SOCKETS,
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    bodyIdleMs: BODY_IDLE_MS,
    streamIdleMs: STREAM_IDLE_MS,
  })
  let failure: UpstreamError | undefined
  const { fetch } = guarded
  const remote = createRemoteFetch({
    fetch: authorizer === undefined ? fetch : createAuthorizedFetch({ fetch, authorizer, url: text }),
    isSse: kind === 'sse',
    limits,
    onLost: error => {
      failure ??= error
      void transport.close()
    },
  })
  // The guard follows redirects itself, and checks each.
  const options = { fetch: remote.fetch, requestInit: { headers: { ...headers } }, redirectPolicy: 'follow' as const }
  const { SSEClientTransport, StreamableHTTPClientTransport } = mcpClient()
  const http = kind === 'http' ? new StreamableHTTPClientTransport(url, options) : undefined
  const transport: Transport = http ?? new SSEClientTransport(url, options)
  boundDepth(transport)
  if (http !== undefined) watchRequests(transport, remote.takeStreamFault)

  return {
    transport,
    failure: () => failure,
    lastFault: remote.lastFault,
    close: async () => {
      if (http?.sessionId !== undefined && failure === undefined) {
        const goodbye = Promise.withResolvers<void>()
        const patience = setTimeout(goodbye.resolve, GOODBYE_MS)
        await Promise.race([http.terminateSession().catch(() => {}), goodbye.promise])
        clearTimeout(patience)
      }
      failure ??= new UpstreamError('aborted', 'The connection was closed.')
      await transport.close()
      await guarded.close()
    },
  }
}
