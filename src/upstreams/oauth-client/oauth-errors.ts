import { AppError } from '../../lib/kernel/errors.ts'
import { OutboundError } from '../../lib/outbound/outbound-request.ts'
import { mcpClient } from '../connection/mcp-client.ts'

/** Covers the registered codes (RFC 6749 §5.2 and extensions). Anything else is not shown to users. */
const ERROR_CODE = /^[a-z_]{1,60}$/

/** Returns the error code if it is safe to show. */
export const toSafeCode = (code: unknown): string | undefined =>
  typeof code === 'string' && ERROR_CODE.test(code) ? code : undefined

/** Returns an error without a cause, because causes are logged and may contain third-party text. */
export const cannotConnect = (why: string): AppError =>
  new AppError('unavailable', `Cannot connect to the MCP server: ${why}.`)

/** Returns whether a later attempt may succeed. */
const isTemporary = (code: string): boolean => {
  const { ServerError, TemporarilyUnavailable, TooManyRequests } = mcpClient().OAuthErrorCode
  return [ServerError, TemporarilyUnavailable, TooManyRequests].some(temporary => temporary === code)
}

/** Returns the code of a permanent refusal by the authorization server, or undefined for temporary errors. */
export const findPermanentRefusal = (error: unknown): string | undefined => {
  if (!(error instanceof mcpClient().OAuthError) || isTemporary(error.code)) return undefined
  return toSafeCode(error.code) ?? 'an unregistered error'
}

/** Describes a failed request to an authorization server without quoting the server's response. */
export const describeOAuthError = (error: unknown): string => {
  if (error instanceof OutboundError) return error.message
  const { OAuthClientFlowError, OAuthError } = mcpClient()
  if (error instanceof OAuthError) {
    const code = toSafeCode(error.code)
    return code === undefined ? 'it returned an error' : `it returned the error ${code}`
  }
  // Leaves out the error message, which may quote the server's response.
  if (error instanceof OAuthClientFlowError) return `its response is inconsistent (${error.name})`
  return 'its response is invalid'
}
