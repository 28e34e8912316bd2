import type { OutboundError } from '../platform/net/index.ts'
import type { ToolResult } from './compiled-server.ts'

export const errorResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true })

/** What the HTTP client cannot know: which field or setting holds the limit that was met. */
const limitOf = (error: OutboundError): string => {
  if (error.fault === 'timeout') return " The limit is the tool's timeoutMs."
  if (error.fault === 'too_large') return ' Ask for less, or let the operator raise PATCHBAY_MAX_RESPONSE_BYTES.'
  return ''
}

/** A request without an answer, as a text that says which fault, after how long, and what to change. */
export const faultText = (error: OutboundError): string => `The request failed: ${error.message}.${limitOf(error)}`
