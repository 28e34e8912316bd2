import { OutboundError } from '../../lib/outbound/http-client.ts'
import { mcpClient } from '../connection/mcp-client.ts'

/** RFC 6749 §5.2 and its extensions have the registered ones; whatever else is there is not repeated. */
const ERROR_CODE = /^[a-z_]{1,60}$/

/** A code of an error, as it may be shown; undefined where it is none. */
export const shownCode = (code: unknown): string | undefined =>
  typeof code === 'string' && ERROR_CODE.test(code) ? code : undefined

/** What may pass by itself: the same request may be answered the next time. */
const mayPass = (code: string): boolean => {
  const { ServerError, TemporarilyUnavailable, TooManyRequests } = mcpClient().OAuthErrorCode
  return [ServerError, TemporarilyUnavailable, TooManyRequests].some(passing => passing === code)
}

/** The word of an authorization server that it will not do what was asked; undefined for what may pass. */
export const findRefusal = (error: unknown): string | undefined => {
  if (!(error instanceof mcpClient().OAuthError) || mayPass(error.code)) return undefined
  return shownCode(error.code) ?? 'an error of its own'
}

/** What went wrong between Patchbay and an authorization server, in words that hold nothing of what it said. */
export const wordsOf = (error: unknown): string => {
  if (error instanceof OutboundError) return error.message
  const { OAuthClientFlowError, OAuthError } = mcpClient()
  if (error instanceof OAuthError) {
    const code = shownCode(error.code)
    return code === undefined ? 'it answered with an error' : `it answered with the error ${code}`
  }
  // Its messages may hold what the server sent.
  if (error instanceof OAuthClientFlowError) return `what it answered does not fit together (${error.name})`
  return 'what it answered cannot be understood'
}
