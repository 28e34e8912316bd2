import { isJsonObject } from '../../lib/kernel/json.ts'
import type { RequestMessage } from '../message.ts'
import { respondPlainly } from '../respond.ts'
import { bytesResponse, type RpcResponse } from '../rpc-response.ts'
import type { Session } from '../sessions/session.ts'
import { findAskableClient } from '../sessions/session-upstreams.ts'
import { askableOf } from '../stateless/stateless-peer.ts'
import { type RoutedCall, type Router, routeTool } from './router.ts'
import { renderTool } from './tool-definition.ts'

/** Finds a tool that is available only to clients that upstreams can ask for input. */
const find = ({ server }: Router, { params }: RequestMessage): RoutedCall | undefined => {
  const { name, arguments: args = {} } = params ?? {}
  if (typeof name !== 'string' || !isJsonObject(args)) return undefined
  const found = server.unlisted?.find(name)
  return found && { routed: routeTool(found), args }
}

/** Finds an unlisted tool by name. Returns undefined if upstreams cannot ask the session's client for input. */
export const findUnlisted = (router: Router, session: Session, request: RequestMessage): RoutedCall | undefined =>
  router.server.unlisted !== undefined && findAskableClient(router, session) !== undefined
    ? find(router, request)
    : undefined

/** Like `findUnlisted`, for a stateless request. */
export const findStatelessUnlisted = (router: Router, request: RequestMessage): RoutedCall | undefined =>
  Object.keys(askableOf(request.params)).length > 0 ? find(router, request) : undefined

/** End of a list's last page. Other pages end with a cursor. */
const LAST = ']}}'
const EMPTY_PAGE_BYTES = '"tools":[]}}'.length

/** Lists the tools. The last page also includes the tools that only this client can use. */
export const listTools = (router: Router, session: Session, request: RequestMessage): RpcResponse => {
  const all = respondPlainly(router, request, 'session')
  const peer = session.upstreams?.askable?.peer
  const tools = peer === undefined ? [] : (router.server.unlisted?.list(peer) ?? [])
  const page = router.lists.get('tools/list')?.find(request.params?.cursor, 'session')
  if (tools.length === 0 || page === undefined || page.toString('utf8', page.length - LAST.length) !== LAST) return all
  const more = tools.map(tool => renderTool(tool, 'session')).join(',')
  const comma = page.length > EMPTY_PAGE_BYTES ? ',' : ''
  const rest = [page.subarray(0, page.length - LAST.length), Buffer.from(`${comma}${more}${LAST}`)]
  return bytesResponse(request.id, { head: router.listHead.session, rest })
}
