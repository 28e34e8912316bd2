import type { OutboundError } from '../../lib/outbound/outbound-request.ts'
import type { BlocksResult } from './tool-result.ts'

export const errorResult = (text: string): BlocksResult => ({ content: [{ type: 'text', text }], isError: true })

/** Returns the error text for a request without a response. It says what failed, after how long, and what to change. */
export const faultText = (error: OutboundError): string => `The request failed: ${error.message}.`

/** Maximum length of an error about arguments. */
const MAX_ERROR_CHARACTERS = 4_000

/** Truncates an error about arguments to what a model reads. */
export const boundError = (text: string): string =>
  (text.length > MAX_ERROR_CHARACTERS ? `${text.slice(0, MAX_ERROR_CHARACTERS)}…` : text).toWellFormed()
