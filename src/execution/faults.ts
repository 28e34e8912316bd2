import type { OutboundError } from '../platform/net/index.ts'
import type { BlocksResult } from './compiled-server.ts'

export const errorResult = (text: string): BlocksResult => ({ content: [{ type: 'text', text }], isError: true })

/** A request without an answer: the client's message says which fault, after how long, and what to change. */
export const faultText = (error: OutboundError): string => `The request failed: ${error.message}.`
