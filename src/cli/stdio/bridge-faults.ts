import { SdkHttpError } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject, parseJson } from '../../lib/kernel/json.ts'
import { OutboundError } from '../../lib/outbound/outbound-request.ts'

/** The error that a client receives for a request without a response. */
export type BridgeFault = { code: number; message: string; data?: unknown }

/** An error code in the range that JSON-RPC reserves for servers. */
const NO_RESPONSE = -32_000
const MAX_DEPTH = 64

/** Returns the error object of a JSON-RPC response, or an empty object. */
const errorIn = (text: string): JsonObject => {
  const parsed = parseJson(text, MAX_DEPTH)
  const error = parsed.ok && isJsonObject(parsed.value) ? parsed.value.error : undefined
  return isJsonObject(error) ? error : {}
}

const NEEDS_TOKEN =
  'needs a personal access token with the scope mcp: set PATCHBAY_TOKEN to one. Create it with npx patchbay token create or on the page "Account"'

const explainStatus = (status: number, url: string, hasToken: boolean): string => {
  if (status === 401 && hasToken) return `${url} rejected the token in PATCHBAY_TOKEN: it is invalid or has expired.`
  if (status === 401) return `${url} ${NEEDS_TOKEN}.`
  return `${url} responded with status ${status}.`
}

/** Explains why a request has no response. If the server itself sent an error, passes it on. */
export const explainBridgeFault = (
  error: unknown,
  { url, hasToken }: { url: string; hasToken: boolean },
): BridgeFault => {
  if (error instanceof SdkHttpError) {
    const { status } = error
    const { text } = error.data
    const { code, message, data } = typeof text === 'string' && status !== 401 ? errorIn(text) : {}
    return {
      code: typeof code === 'number' ? code : NO_RESPONSE,
      message: typeof message === 'string' ? message : explainStatus(status, url, hasToken),
      ...(data !== undefined && { data }),
    }
  }
  if (error instanceof OutboundError) {
    return { code: NO_RESPONSE, message: `No response from Patchbay at ${url}: ${error.message}.` }
  }
  return { code: NO_RESPONSE, message: `The connection to ${url} was lost before a response arrived.` }
}
