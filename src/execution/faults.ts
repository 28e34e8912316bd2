import type { OutboundError } from '../platform/net/index.ts'
import type { ToolResult } from './compiled-server.ts'

export const errorResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true })

const seconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)

/** What to change about each fault; which fault it was and its details are in the error's own message. */
const remedyOf = (error: OutboundError): string => {
  switch (error.fault) {
    case 'dns':
      return "Check the host name in the tool's URL."
    case 'refused':
      return 'Check that the API is running and that host and port are right.'
    case 'reset':
      return 'Try again; if it stays so, ask whoever runs the API.'
    case 'connect_timeout':
    case 'unreachable':
      return 'Check that the API can be reached from the machine that runs Patchbay.'
    case 'timeout':
      return "Ask for less, or raise the tool's timeoutMs."
    case 'too_large':
      return 'Ask for less, for example with a filter or a page, or let the operator raise PATCHBAY_MAX_RESPONSE_BYTES.'
    case 'blocked':
      return 'Use an address that may be reached from here.'
    case 'too_many_redirects':
      return "Put the address that the redirects lead to into the tool's URL."
    case 'tls':
      return "Check the API's certificate and the host name in the tool's URL."
    case 'protocol':
    case 'encoding':
      return 'Check that the address answers HTTP, and its Content-Encoding.'
    case 'aborted':
      return 'The caller cancelled it.'
  }
}

/** A request without an answer, as a text that says which fault, after how long, and what to change. */
export const faultText = (error: OutboundError): string =>
  `The request failed after ${seconds(error.afterMs)}: ${error.message.replace(/\.?$/, '.')} ${remedyOf(error)}`
