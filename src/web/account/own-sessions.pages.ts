import type { FastifyPluginAsync } from 'fastify'
import type { AccountService } from '../../identity/accounts.service.ts'
import { describeBrowser } from '../../identity/sign-in/describe-browser.ts'
import type { OwnSession } from '../../identity/sign-in/sessions.store.ts'
import { actorOf } from '../../lib/http/access.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { sessionIdOf } from '../../lib/http/sessions.ts'
import { doneText, idOf, idRoute, userRoute } from '../frame/user-page.ts'
import { accountFrame } from './account-tabs.ts'

const PATH = '/account/sessions'
/** Maximum sessions shown. Users can end any others only by ending all sessions at once. */
const MAX_SHOWN = 100

const toSessionView = (session: OwnSession) => ({
  id: session.id,
  isCurrent: session.isCurrent,
  browser: describeBrowser(session.userAgent),
  address: session.address ?? 'an unknown address',
  lastSeen: shownTime(session.lastSeenAt),
  began: shownTime(session.createdAt),
})

/** Registers the page where users view and end their sessions. */
export const ownSessionPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  app.get(PATH, userRoute, async (request, reply) => {
    const page = { limit: MAX_SHOWN, afterId: undefined }
    const sessions = await accounts.listSessions(actorOf(request), page, sessionIdOf(request))
    return reply.page('account/sessions', {
      ...accountFrame('sessions'),
      sessions: sessions.slice(0, MAX_SHOWN).map(toSessionView),
      hasOthers: sessions.some(({ isCurrent }) => !isCurrent),
      done: doneText(request, { ended: 'Signed out.' }),
    })
  })

  app.post(`${PATH}/end`, userRoute, async (request, reply) => {
    await accounts.endOtherSessions(actorOf(request), sessionIdOf(request))
    return reply.redirect(`${PATH}?done=ended`, 303)
  })

  app.post(`${PATH}/:id/end`, idRoute, async (request, reply) => {
    await accounts.endOwnSession(actorOf(request), idOf(request))
    return reply.redirect(`${PATH}?done=ended`, 303)
  })
}
