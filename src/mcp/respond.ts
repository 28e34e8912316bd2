import type { RequestMessage } from './message.ts'
import { ERROR } from './protocol.ts'
import { findGroupLists } from './registry/groups.ts'
import type { Era } from './registry/listing.ts'
import type { Router } from './registry/router.ts'
import {
  bytesResponse,
  errorResponse,
  invalidParams,
  type RpcResponse,
  refusal,
  resourceNotFoundCode,
  resultResponse,
} from './rpc-response.ts'

/** Returns a page of a list, or undefined if the method does not request a list. */
const respondWithList = (router: Router, { id, method, params }: RequestMessage, era: Era): RpcResponse | undefined => {
  const listing = router.lists.get(method)
  if (listing === undefined) return undefined
  const group = router.groups && findGroupLists(router.groups, method, params)
  if (group !== undefined && 'code' in group) return errorResponse(id, group)
  const page = (group?.lists.get(method) ?? listing).find(params?.cursor, era)
  return page === undefined
    ? errorResponse(id, invalidParams('Invalid params: unknown cursor'))
    : bytesResponse(id, { head: (group?.head ?? router.listHead)[era], rest: [page] })
}

const SUBSCRIBING: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe'])

/** Responds to requests for resources and prompts that no upstream has. */
const respondNotFound = (
  { server, offers }: Router,
  { id, method, params }: RequestMessage,
  era: Era,
): RpcResponse | undefined => {
  const refuse = (message: string): RpcResponse => errorResponse(id, invalidParams(message))
  if (method === 'resources/read' || (SUBSCRIBING.has(method) && offers !== undefined)) {
    const uri = params?.uri
    if (typeof uri !== 'string') return refuse('Invalid params: uri is missing or not a string')
    const why = server.explainMissing?.('resources', uri)
    const text = `Resource not found: ${uri}${why === undefined ? '' : `. ${why}`}`
    return errorResponse(id, refusal(200, resourceNotFoundCode(era), text, { uri }))
  }
  if (method === 'completion/complete' && offers !== undefined) {
    return refuse('Invalid params: ref does not name a prompt or resource template of this server')
  }
  if (method === 'prompts/get') {
    const name = params?.name
    if (typeof name !== 'string') return refuse('Invalid params: name is missing or not a string')
    return refuse(server.explainMissing?.('prompts', name) ?? `Unknown prompt: ${name}`)
  }
  return undefined
}

/** Refuses an unknown method. Only the stateless era uses an HTTP status for it (2026-07-28, basic/transports). */
const respondUnknown = ({ id, method }: RequestMessage, era: Era): RpcResponse =>
  errorResponse(id, refusal(era === 'stateless' ? 404 : 200, ERROR.methodNotFound, `Method not found: ${method}`))

/** Responds to a request that needs neither a call nor a stream. */
export const respondPlainly = (router: Router, message: RequestMessage, era: Era): RpcResponse =>
  respondWithList(router, message, era) ?? respondNotFound(router, message, era) ?? respondUnknown(message, era)

/** Responds to a request of the stateless era that needs neither a call nor a stream. */
export const respondAtOnce = (router: Router, message: RequestMessage): RpcResponse => {
  if (message.method === 'server/discover') return resultResponse(message.id, router.discover)
  if (SUBSCRIBING.has(message.method)) return respondUnknown(message, 'stateless')
  return respondPlainly(router, message, 'stateless')
}
