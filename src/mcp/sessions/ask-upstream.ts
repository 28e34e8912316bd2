import { isJsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamResult } from '../../runtime/call/tool-result.ts'
import type { Call } from '../call.ts'
import { isInputRequired, renderPassed } from '../call-tool.ts'
import type { ReportFault } from '../http-exchange.ts'
import type { RequestMessage } from '../message.ts'
import { ERROR } from '../protocol.ts'
import { groupOf } from '../registry/groups.ts'
import type { Era } from '../registry/listing.ts'
import type { Router } from '../registry/router.ts'
import {
  errorResponse,
  type RpcResponse,
  refusal,
  resourceNotFoundCode,
  resultResponse,
  upstreamRefusal,
} from '../rpc-response.ts'

/** Methods that only upstreams implement. */
const ASK_METHODS: ReadonlySet<string> = new Set(['resources/read', 'prompts/get', 'completion/complete'])

/** Returns whether the request may need an upstream, in which case it runs like a call. */
export const mayAskUpstream = ({ offers }: Router, { method }: RequestMessage): boolean =>
  offers !== undefined && ASK_METHODS.has(method)

const send = ({ offers }: Router, { method, params }: RequestMessage, call: Call) => {
  if (method === 'resources/read') {
    return typeof params?.uri === 'string' ? offers?.readResource(params.uri, call, groupOf(params)) : undefined
  }
  if (method === 'completion/complete') {
    return params === undefined ? undefined : offers?.complete(params, call, groupOf(params))
  }
  const args = params?.arguments
  if (typeof params?.name !== 'string' || (args !== undefined && !isJsonObject(args))) return undefined
  return offers?.getPrompt(params.name, args, call, groupOf(params))
}

/**
 * Default caching hints for when the upstream sends none. The stateless era requires them in the result of reading a
 * resource.
 */
const NOT_CACHED = { ttlMs: 0, cacheScope: 'private' } as const

/**
 * Sends a request to the upstream that offers the resource or prompt it names. Returns undefined if no upstream does.
 */
export const requestUpstream = (
  router: Router,
  request: RequestMessage,
  call: Call,
  era: Era,
  report: ReportFault,
): Promise<RpcResponse> | undefined => {
  const { id } = request
  const render = (result: UpstreamResult): RpcResponse => {
    if ('refused' in result) {
      const { code } = result.refused
      const sent = code === ERROR.resourceNotFound ? resourceNotFoundCode(era) : code
      return errorResponse(id, upstreamRefusal({ ...result.refused, code: sent }, era))
    }
    const isRead = era === 'stateless' && request.method === 'resources/read'
    const passed = isRead && !isInputRequired(result.passed) ? { ...NOT_CACHED, ...result.passed } : result.passed
    return resultResponse(id, renderPassed(router, { passed }, era, false))
  }
  return send(router, request, call)
    ?.then(render)
    .catch((error: unknown) => {
      report(error, 'unexpected error while asking an MCP server')
      return errorResponse(id, refusal(200, ERROR.internal, 'Internal error'))
    })
}
