import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { isJsonObject, type JsonObject, type StopSignal } from '../kernel/index.ts'
import type { CatalogueItem } from './catalogue/index.ts'
import { removeHidden } from './catalogue/index.ts'
import { type UpstreamConnection, UpstreamError } from './connection/index.ts'
import type { UpstreamState } from './upstream.ts'

/** Our own, so that nothing of a result is lost or looked at. */
const Anything = z.custom<JsonObject>(isJsonObject)

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

const nextTry = (state: UpstreamState, message: string): string => {
  if (state.kind !== 'failed' || message.includes('tried again')) return ''
  if (state.nextTryAt === undefined) return ' It is connected again with the next call.'
  const seconds = Math.max(1, Math.ceil((state.nextTryAt.getTime() - Date.now()) / 1_000))
  return ` It is tried again in ${seconds} s, or with the next call.`
}

/** Why a call has no result, for the model that made it; undefined for what is no fault of the upstream. */
export const explainUpstreamFault = (
  error: unknown,
  name: string,
  state: UpstreamState | undefined,
): string | undefined => {
  if (error instanceof UpstreamError) {
    const next = state === undefined || error.kind === 'aborted' ? '' : nextTry(state, error.message)
    return `The upstream "${name}" did not do this: ${error.message}${next}`
  }
  if (error instanceof ProtocolError) {
    const said = removeHidden(error.message).slice(0, MAX_SAID_CHARS)
    return `The upstream "${name}" answered with the error ${error.code}: ${said}`
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType) {
    return `The upstream "${name}" asks for more input, which cannot be passed on to this client.`
  }
  return undefined
}

/** Calls a tool by the name that the upstream knows; answers its result as it is. Rejects as `run` of a connection does. */
export const callUpstreamTool = (
  connection: UpstreamConnection,
  { name, declared }: CatalogueItem,
  args: JsonObject,
  stop: StopSignal,
): Promise<JsonObject> =>
  withAbortSignal(stop, async signal => {
    const params = { name, arguments: args }
    const hasHeaders = JSON.stringify(declared.inputSchema).includes(HEADER_KEYWORD)
    const result = await connection.run(async (client, options) => {
      if (!hasHeaders) return client.request({ method: 'tools/call', params }, Anything, options)
      const inputSchema = {
        type: 'object' as const,
        ...(isJsonObject(declared.inputSchema) ? declared.inputSchema : {}),
      }
      const answered: unknown = await client.callTool(params, {
        ...options,
        toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } },
      })
      return isJsonObject(answered) ? answered : {}
    }, signal)
    const { resultType: _resultType, ...passed } = result
    return Array.isArray(passed.content) ? passed : { ...passed, content: [] }
  })
