import { SdkHttpError } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject, parseJson } from '../kernel/index.ts'
import { OutboundError } from '../platform/net/index.ts'

/** What a client is told of a request without an answer. */
export type BridgeFault = { code: number; message: string; data?: unknown }

/** Of the range that JSON-RPC leaves to servers. */
const NO_ANSWER = -32_000
const MAX_DEPTH = 64

const errorIn = (text: string): JsonObject | undefined => {
  const parsed = parseJson(text, MAX_DEPTH)
  const error = parsed.ok && isJsonObject(parsed.value) ? parsed.value.error : undefined
  return isJsonObject(error) ? error : undefined
}

const ASKS_FOR_TOKEN =
  'asks for a personal access token with the scope mcp: set PATCHBAY_TOKEN to one, made by npx patchbay token create or on the page "Account"'

const explainStatus = (status: number, url: string, hasToken: boolean): string => {
  if (status === 401 && hasToken) return `${url} does not take the token of PATCHBAY_TOKEN: it is none, or has ended.`
  if (status === 401) return `${url} ${ASKS_FOR_TOKEN}.`
  return `${url} answered with the status ${status}.`
}

/** Why a request got no answer. What the server itself said of it is passed on. */
export const explainBridgeFault = (
  error: unknown,
  { url, hasToken }: { url: string; hasToken: boolean },
): BridgeFault => {
  if (error instanceof SdkHttpError) {
    const { status } = error
    const { text } = error.data
    const said = typeof text === 'string' && status !== 401 ? errorIn(text) : undefined
    if (said !== undefined) {
      const { code, message, data } = said
      return {
        code: typeof code === 'number' ? code : NO_ANSWER,
        message: typeof message === 'string' ? message : explainStatus(status, url, hasToken),
        ...(data !== undefined && { data }),
      }
    }
    return { code: NO_ANSWER, message: explainStatus(status, url, hasToken) }
  }
  if (error instanceof OutboundError) {
    return { code: NO_ANSWER, message: `Patchbay gave no answer at ${url}: ${error.message}.` }
  }
  return { code: NO_ANSWER, message: `The connection to ${url} was lost before the answer.` }
}
