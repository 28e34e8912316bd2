import type { RequestOptions } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { CatalogueItem } from '../catalogue/catalogue.ts'
import { removeHidden } from '../catalogue/hidden-text.ts'
import { askWithLink, INPUT_REQUIRED } from '../conversation/ask-with-link.ts'
import { findAskedAddresses } from '../conversation/asked-addresses.ts'
import type { UpstreamState } from '../upstream.ts'
import { Anything } from './anything.ts'
import type { CallLink } from './call-link.ts'
import type { UpstreamConnection } from './connection.ts'
import { mcpClient } from './mcp-client.ts'
import type { UpstreamClient } from './open-connection.ts'
import { AccountError, UpstreamError } from './upstream-error.ts'

/** The keyword of a schema by which an argument goes into a header as well (2026-07-28, basic/transports). */
const HEADER_KEYWORD = '"x-mcp-header"'

/** Of what an upstream said in an error. */
const MAX_SAID_CHARS = 2_000

/** Does the work with a signal of the kind that the SDK takes. */
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

const nextTry = (state: UpstreamState, { kind, message }: UpstreamError): string => {
  const hasFailed = state.kind === 'failed'
  if (kind === 'exited' && !(hasFailed && state.nextTryAt)) return ' The next call starts it again.'
  if (!hasFailed || message.includes('tried again')) return ''
  if (state.nextTryAt === undefined) return ' It is connected again with the next call.'
  const seconds = Math.max(1, Math.ceil((state.nextTryAt.getTime() - Date.now()) / 1_000))
  return ` It is tried again in ${seconds} s, or with the next call.`
}

/** Where whoever calls connects an account of theirs first; undefined for any other fault. */
export const findConnectUrl = (error: unknown): string | undefined =>
  error instanceof AccountError ? error.connectUrl : undefined

/** What an upstream answered as a JSON-RPC error; undefined where it did not. `hide` takes out what is secret. */
export const findUpstreamRefusal = (
  error: unknown,
  hide: (text: string) => string,
): { code: number; message: string } | undefined =>
  error instanceof mcpClient().ProtocolError
    ? { code: error.code, message: hide(removeHidden(error.message)).slice(0, MAX_SAID_CHARS) }
    : undefined

/** Why a call has no result, for the model that made it; undefined for what is no fault of the upstream. `hide` takes out what is secret. */
export const explainUpstreamFault = (
  error: unknown,
  name: string,
  state: UpstreamState | undefined,
  hide: (text: string) => string,
): string | undefined => {
  if (error instanceof UpstreamError) {
    const next =
      state === undefined || error.kind === 'aborted' || error instanceof AccountError ? '' : nextTry(state, error)
    return hide(`The upstream "${name}" did not do this: ${error.message}${next}`)
  }
  const refusal = findUpstreamRefusal(error, hide)
  if (refusal !== undefined) {
    const addresses = findAskedAddresses(error).map(({ url }) => ` To be opened first: ${hide(removeHidden(url))}`)
    return `The upstream "${name}" answered with the error ${refusal.code}: ${refusal.message}${addresses.join('')}`
  }
  const { SdkError, SdkErrorCode } = mcpClient()
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType) {
    return `The upstream "${name}" asks for more input, which cannot be passed on to this client.`
  }
  return undefined
}

/** As `SendLinked`; without a link nothing goes into `_meta`. */
type Send = (
  client: UpstreamClient,
  meta: JsonObject | undefined,
  options: RequestOptions,
  more?: JsonObject,
) => Promise<JsonObject>

const run = (
  connection: UpstreamConnection,
  link: CallLink | undefined,
  signal: AbortSignal,
  send: Send,
): Promise<JsonObject> =>
  link === undefined
    ? connection.run((client, options) => send(client, undefined, options), signal)
    : (link.through ?? ((shared, stop, work) => askWithLink(shared, link, stop, work)))(connection, signal, send)

/**
 * A request to an upstream, and its result as it is; whoever is behind the `link` hears how it goes. Rejects as `run` of
 * a connection does.
 */
export const askUpstream = (
  connection: UpstreamConnection,
  request: { method: string; params: JsonObject },
  stop: StopSignal,
  link?: CallLink,
): Promise<JsonObject> =>
  withAbortSignal(stop, async signal => {
    const result = await run(connection, link, signal, (client, meta, options, more) => {
      const params = { ...request.params, ...more, ...(meta !== undefined && { _meta: meta }) }
      return client.request({ ...request, params }, Anything, options)
    })
    // The one type that says something to the client: it is to come back.
    if (result.resultType === INPUT_REQUIRED) return result
    const { resultType: _resultType, ...passed } = result
    return passed
  })

/** What calling a tool takes: no more of it is kept. */
export type UpstreamToolCall = {
  /** As the upstream knows it. */
  name: string
  /** Of a tool some of whose arguments go into headers as well. */
  headerSchema: JsonObject | undefined
}

export const toUpstreamToolCall = ({ name, declared: { inputSchema } }: CatalogueItem): UpstreamToolCall => ({
  name,
  headerSchema:
    isJsonObject(inputSchema) && JSON.stringify(inputSchema).includes(HEADER_KEYWORD) ? inputSchema : undefined,
})

/** The SDK writes the headers; its schemas keep of the result only what they know. */
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

/** Calls a tool; answers its result as it is. Rejects as `run` of a connection does. */
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
      ? await askUpstream(connection, request, stop, link)
      : await callWithHeaders(connection, tool, args, stop, link)
  return Array.isArray(passed.content) || passed.resultType === INPUT_REQUIRED ? passed : { ...passed, content: [] }
}
