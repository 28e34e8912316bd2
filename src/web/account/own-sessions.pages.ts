import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { describeBrowser } from '../../identity/sign-in/describe-browser.ts'
import type { OwnSession } from '../../identity/sign-in/sessions.store.ts'
import { actorOf } from '../../lib/http/access.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { sessionIdOf } from '../../lib/http/sessions.ts'
import { accountFrame } from './account-tabs.ts'

const config = { access: 'user' } as const
const PATH = '/account/sessions'
/** Sessions shown; further ones can only be ended all at once. */
const MAX_SHOWN = 100

const Query = z.object({ done: formText })

const toSessionView = (session: OwnSession) => ({
  id: session.id,
  isCurrent: session.isCurrent,
  browser: describeBrowser(session.userAgent),
  address: session.address ?? 'an unknown address',
  lastSeen: shownTime(session.lastSeenAt),
  began: shownTime(session.createdAt),
})

/** Registers the page that lists the user's sessions and ends them. */
export const ownSessionPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  app.get(PATH, { config }, async (request, reply) => {
    const page = { limit: MAX_SHOWN, afterId: undefined }
    const sessions = await accounts.listSessions(actorOf(request), page, sessionIdOf(request))
    return reply.page('account/sessions', {
      ...accountFrame('sessions'),
      sessions: sessions.slice(0, MAX_SHOWN).map(toSessionView),
      hasOthers: sessions.some(({ isCurrent }) => !isCurrent),
      done: Query.parse(request.query).done === 'ended' ? 'Signed out.' : undefined,
    })
  })

  app.post(`${PATH}/end`, { config }, async (request, reply) => {
    await accounts.endOtherSessions(actorOf(request), sessionIdOf(request))
    return reply.redirect(`${PATH}?done=ended`, 303)
  })

  app.post(`${PATH}/:id/end`, { config, schema: { params: uuidParams } }, async (request, reply) => {
    await accounts.endOwnSession(actorOf(request), uuidParams.parse(request.params).id)
    return reply.redirect(`${PATH}?done=ended`, 303)
  })
}
