import { type Answer, bytesAnswer } from './answer.ts'
import { answerList, answerUnknown } from './dispatcher.ts'
import type { RequestMessage } from './message.ts'
import { type RoutedTool, type Router, routeUnlisted } from './router.ts'
import { askedSession } from './session-ties.ts'
import type { Session } from './sessions.ts'
import { askableOf } from './stateless-peer.ts'
import { renderTool } from './tool-definition.ts'

/** A tool that is for clients alone that can be asked something, as whoever calls it must. */
const find = ({ server }: Router, { params }: RequestMessage): RoutedTool | undefined => {
  const found = typeof params?.name === 'string' ? server.unlisted?.find(params.name) : undefined
  return found && routeUnlisted(found)
}

/** Undefined as well for a client with a session that can be asked nothing. */
export const findUnlisted = (router: Router, session: Session, request: RequestMessage): RoutedTool | undefined =>
  router.server.unlisted !== undefined && askedSession(router, session) !== undefined
    ? find(router, request)
    : undefined

/** As `findUnlisted`, for a request without a session. */
export const findStatelessUnlisted = (router: Router, request: RequestMessage): RoutedTool | undefined =>
  Object.keys(askableOf(request.params)).length > 0 ? find(router, request) : undefined

/** How the last page of a list ends; one before it ends in a cursor. */
const LAST = ']}}'
const EMPTY_PAGE_BYTES = '"tools":[]}}'.length

/** The list of tools; behind the last page those that are for this client alone. */
export const answerTools = (router: Router, session: Session, request: RequestMessage): Answer => {
  const all = answerList(router, request, 'session') ?? answerUnknown(request, 'session')
  const peer = session.ties?.asked?.peer
  const tools = peer === undefined ? [] : (router.server.unlisted?.list(peer) ?? [])
  const page = router.lists.get('tools/list')?.find(request.params?.cursor, 'session')
  if (tools.length === 0 || page === undefined || page.toString('utf8', page.length - LAST.length) !== LAST) return all
  const more = tools.map(tool => renderTool(tool, 'session')).join(',')
  const comma = page.length > EMPTY_PAGE_BYTES ? ',' : ''
  const rest = [page.subarray(0, page.length - LAST.length), Buffer.from(`${comma}${more}${LAST}`)]
  return bytesAnswer(request.id, { head: router.listHead.session, rest })
}
