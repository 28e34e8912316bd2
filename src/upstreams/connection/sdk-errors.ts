import { OutboundError } from '../../lib/outbound/outbound-request.ts'
import { type McpClient, mcpClient } from './mcp-client.ts'
import { toRemoteError } from './remote-fetch.ts'
import { UpstreamError } from './upstream-error.ts'

/** Returns the error and its causes, outermost first. */
const chainOf = (error: unknown): unknown[] => {
  const chain: unknown[] = []
  for (
    let each = error;
    each !== undefined && chain.length < 8;
    each = each instanceof Error ? each.cause : undefined
  ) {
    chain.push(each)
  }
  return chain
}

const statusOf = (error: unknown): number | undefined => {
  const { SdkHttpError, SseError } = mcpClient()
  if (error instanceof SdkHttpError) return error.status
  return error instanceof SseError ? error.code : undefined
}

/** Returns the HTTP status of the server error with which an upstream responded to the probe for the stateless era. */
export const findProbeStatus = (error: unknown): number | undefined => {
  const { SdkHttpError, SdkErrorCode } = mcpClient()
  const failed = chainOf(error).find(
    each => each instanceof SdkHttpError && each.code === SdkErrorCode.EraNegotiationFailed,
  )
  return failed instanceof SdkHttpError ? failed.status : undefined
}

const notMcp = (cause: unknown): UpstreamError =>
  new UpstreamError('not_mcp', 'The URL responds with something other than MCP, such as a web page. Check the path.', {
    cause,
  })

const statusError = (status: number, cause: unknown): UpstreamError => {
  const options = { cause }
  if (status === 401 || status === 403) {
    const message = `The MCP server requires authorization (HTTP ${status}). Set the header it needs, renew the token in it, or use an account (OAuth).`
    return new UpstreamError('unauthorized', message, options)
  }
  if (status >= 500 || status === 429) {
    return new UpstreamError(
      'http_status',
      `The MCP server responded with HTTP ${status}. Try again later, or check its logs.`,
      options,
    )
  }
  if (status >= 200 && status < 300) return notMcp(cause)
  const message = `The URL does not speak MCP: it responded with HTTP ${status}. Check the path and the transport: http is Streamable HTTP, sse is its predecessor.`
  return new UpstreamError('not_mcp', message, options)
}

const isSdkError = (error: unknown, code: keyof McpClient['SdkErrorCode']): boolean => {
  const { SdkError, SdkErrorCode } = mcpClient()
  return error instanceof SdkError && error.code === SdkErrorCode[code]
}

/** Returns whether the error means that a message is not JSON or not JSON-RPC. */
const isUnreadable = (error: unknown): boolean => {
  if (isSdkError(error, 'ClientHttpUnexpectedContent')) return true
  return error instanceof Error && ['SyntaxError', 'ZodError', '$ZodError'].includes(error.name)
}

const timeoutOf = (error: unknown): string => {
  const data = error instanceof mcpClient().SdkError ? error.data : undefined
  const ms = typeof data === 'object' && data !== null && 'timeout' in data ? Number(data.timeout) : Number.NaN
  return Number.isFinite(ms) ? ` within ${ms} ms` : ' in time'
}

/**
 * Returns the upstream's fault behind an SDK error, or undefined for an error response or one of Patchbay's own errors.
 */
export const findFault = (error: unknown): UpstreamError | undefined => {
  if (error instanceof UpstreamError) return error
  const chain = chainOf(error)
  const outbound = chain.find(each => each instanceof OutboundError)
  if (outbound instanceof OutboundError) return toRemoteError(outbound)
  if (error instanceof mcpClient().ProtocolError) {
    // `watchRequests` and `guardMessages` set this data.
    return error.data instanceof UpstreamError ? error.data : undefined
  }
  const status = chain.map(statusOf).find(each => each !== undefined)
  if (status !== undefined) return statusError(status, error)
  if (isSdkError(error, 'RequestTimeout')) {
    const message = `The MCP server did not respond${timeoutOf(error)}. Check the MCP server, or raise timeoutMs.`
    return new UpstreamError('timeout', message, { cause: error })
  }
  if (chain.some(isUnreadable)) return notMcp(error)
  if (isSdkError(error, 'ConnectionClosed')) {
    return new UpstreamError('protocol', 'The connection to the MCP server was closed.', { cause: error })
  }
  return undefined
}
