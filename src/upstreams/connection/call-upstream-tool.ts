import type { CallResult } from '../../history/call-result.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { CatalogueItem } from '../catalogue/catalogue.ts'
import { removeHidden } from '../catalogue/hidden-text.ts'
import { findRequestedUrls } from '../conversation/requested-urls.ts'
import { INPUT_REQUIRED, sendWithLink } from '../conversation/send-with-link.ts'
import type { UpstreamState } from '../upstream.ts'
import type { CallLink, SendLinked } from './call-link.ts'
import { ClientRefusal } from './client-refusal.ts'
import type { UpstreamConnection } from './connection.ts'
import { findErrorResponse, INVALID_PARAMS, MAX_ERROR_CHARS, withoutCode } from './error-responses.ts'
import { AnyResult, mcpClient } from './mcp-client.ts'
import { AccountError, resultOfUpstreamFault, UpstreamError } from './upstream-error.ts'

/** The schema keyword for an argument that is also sent as a header (2026-07-28, basic/transports). */
const HEADER_KEYWORD = '"x-mcp-header"'

/** Runs `work` with an AbortSignal, because the SDK requires one. */
const withAbortSignal = async <T>(stop: StopSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController()
  const onAbort = (): void => controller.abort()
  if (stop.aborted) onAbort()
  stop.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(controller.signal)
  } finally {
    stop.removeEventListener('abort', onAbort)
  }
}

const describeRetry = (state: UpstreamState, { kind }: UpstreamError): string => {
  const hasFailed = state.kind === 'failed'
  if (kind === 'exited' && !(hasFailed && state.nextTryAt)) return ' The next call restarts it.'
  if (!hasFailed || kind === 'unavailable') return ''
  if (state.nextTryAt === undefined) return ' The next call reconnects it.'
  const seconds = Math.max(1, Math.ceil((state.nextTryAt.getTime() - Date.now()) / 1_000))
  return ` Patchbay reconnects in ${seconds} s, or on the next call.`
}

/** Returns the URL where the caller can connect their account, if the error requires this. */
export const findConnectUrl = (error: unknown): string | undefined =>
  error instanceof AccountError ? error.connectUrl : undefined

const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/**
 * Explains a failed call to the model that made it. Returns undefined if the upstream is not at fault. `hide` masks
 * secrets.
 */
export const explainUpstreamFault = (
  error: unknown,
  name: string,
  state: UpstreamState | undefined,
  hide: (text: string) => string,
): string | undefined => {
  if (error instanceof UpstreamError) {
    const next =
      state === undefined || error.kind === 'aborted' || error instanceof AccountError
        ? ''
        : describeRetry(state, error)
    return hide(`The MCP server "${name}" failed: ${error.message}${next}`)
  }
  if (error instanceof ClientRefusal) {
    const why = hide(withoutCode(removeHidden(error.message))).slice(0, MAX_ERROR_CHARS)
    return `The MCP server "${name}" did not get the input that it asked for: ${why}`
  }
  const errorResponse = findErrorResponse(error, hide)
  if (errorResponse !== undefined) {
    const addresses = findRequestedUrls(error).map(({ url }) => `Open this URL first: ${hide(removeHidden(url))}`)
    const reason = `The MCP server "${name}" returned the error ${errorResponse.code}: ${errorResponse.message}`
    return addresses.length === 0 ? reason : [asSentence(reason), ...addresses].join(' ')
  }
  const { SdkError, SdkErrorCode } = mcpClient()
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType) {
    return `The MCP server "${name}" asks for more input, which this client does not support.`
  }
  return undefined
}

/**
 * Returns how a call ended that rejected with this error. An upstream's error response means that the call failed,
 * unless it refuses the parameters or asks for what the client does not give.
 */
export const resultOfUpstreamError = (error: unknown): CallResult => {
  if (error instanceof UpstreamError) return resultOfUpstreamFault(error.kind)
  if (error instanceof ClientRefusal) return 'rejected'
  const { ProtocolError, SdkError, SdkErrorCode } = mcpClient()
  if (error instanceof ProtocolError && error.code === INVALID_PARAMS) return 'invalid_arguments'
  const asksForMore = error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType
  return asksForMore || findRequestedUrls(error).length > 0 ? 'rejected' : 'failed'
}

const run = (
  connection: UpstreamConnection,
  link: CallLink | undefined,
  signal: AbortSignal,
  send: SendLinked,
): Promise<JsonObject> => {
  if (link === undefined) return connection.run((client, options) => send(client, undefined, options), signal)
  return link.through === undefined
    ? sendWithLink(connection, link, signal, send)
    : link.through(connection, signal, send)
}

/**
 * Sends a request and returns its result unchanged. Progress and messages go to `link`. Rejects with the same errors as
 * a connection's `run`.
 */
export const requestUpstream = (
  connection: UpstreamConnection,
  request: { method: string; params: JsonObject },
  stop: StopSignal,
  link?: CallLink,
): Promise<JsonObject> =>
  withAbortSignal(stop, async signal => {
    const result = await run(connection, link, signal, (client, meta, options, more) => {
      const params = { ...request.params, ...more, ...(meta !== undefined && { _meta: meta }) }
      return client.request({ ...request, params }, AnyResult, options)
    })
    // The only result type that must be passed on, because the client has to repeat the request.
    if (result.resultType === INPUT_REQUIRED) return result
    const { resultType: _resultType, ...passed } = result
    return passed
  })

/** The part of a tool's definition that calls need. The rest is not kept in memory. */
export type UpstreamToolCall = {
  /** The tool's name at the upstream. */
  name: string
  /** Set if some arguments are also sent as headers. */
  headerSchema: JsonObject | undefined
}

export const toUpstreamToolCall = ({ name, declared: { inputSchema } }: CatalogueItem): UpstreamToolCall => ({
  name,
  headerSchema:
    isJsonObject(inputSchema) && JSON.stringify(inputSchema).includes(HEADER_KEYWORD) ? inputSchema : undefined,
})

/** Calls a tool with the SDK's method, which sets the headers but drops unknown members of the result. */
const callWithHeaders = (
  connection: UpstreamConnection,
  { name, headerSchema }: UpstreamToolCall,
  args: JsonObject,
  stop: StopSignal,
  link: CallLink | undefined,
): Promise<JsonObject> =>
  withAbortSignal(stop, signal => {
    const toolDefinition = { name, inputSchema: { ...headerSchema, type: 'object' as const } }
    return run(connection, link, signal, async (client, _meta, options, more) => {
      const params = { name, arguments: args, ...more, ...(_meta !== undefined && { _meta }) }
      const result: unknown = await client.callTool(params, { ...options, toolDefinition })
      return isJsonObject(result) ? result : {}
    })
  })

/** Calls a tool and returns its result unchanged. Rejects with the same errors as a connection's `run`. */
export const callUpstreamTool = async (
  connection: UpstreamConnection,
  tool: UpstreamToolCall,
  args: JsonObject,
  stop: StopSignal,
  link?: CallLink,
): Promise<JsonObject> => {
  const request = { method: 'tools/call', params: { name: tool.name, arguments: args } }
  const passed =
    tool.headerSchema === undefined
      ? await requestUpstream(connection, request, stop, link)
      : await callWithHeaders(connection, tool, args, stop, link)
  return Array.isArray(passed.content) || passed.resultType === INPUT_REQUIRED ? passed : { ...passed, content: [] }
}
