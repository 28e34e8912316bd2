import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { EVERYBODY } from '../../upstreams/oauth-client/account.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import { CALLBACK_PATH } from '../../upstreams/oauth-client/patchbay-client.ts'
import type { PendingAuthorizations } from '../../upstreams/oauth-client/pending-authorizations.ts'
import type { Connectable, UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'
import { toConnectView, toLeaveView } from './connect.view.ts'
import { OWN_ACCOUNTS_PATH } from './own-upstream-accounts.pages.ts'
import { upstreamPath } from './upstream-path.ts'

const config = { access: 'user' } as const
const Params = z.object({ upstreamId: uuidParam })
const schema = { params: Params }
const Answer = z.object({ state: formText })

const notBegun = (): AppError =>
  new AppError(
    'invalid_request',
    'This connection was not started in this browser, is already complete, or took more than ten minutes. Start again.',
  )

const queryOf = ({ url }: FastifyRequest): URLSearchParams => new URLSearchParams(url.split('?').slice(1).join('?'))

/** Returns the page that shows the connected account. */
const homeOf = ({ upstream, holder }: Pick<Connectable, 'upstream' | 'holder'>): string =>
  holder === EVERYBODY ? upstreamPath(upstream.serverId, upstream.id) : OWN_ACCOUNTS_PATH

type Parts = { upstreamAccounts: UpstreamAccounts; pendingUpstreamAuthorizations: PendingAuthorizations }

/**
 * Pages for connecting an account at an upstream: what it is for, where the browser goes next, and the callback. The
 * browser goes to an authorization server only by a click of the user, on a page that says whose it is.
 */
export const connectPages: FastifyPluginAsync<Parts> = async (
  app,
  { upstreamAccounts, pendingUpstreamAuthorizations: pendingAuthorizations },
) => {
  const path = connectPath(':upstreamId')
  const idOf = (request: FastifyRequest): string => Params.parse(request.params).upstreamId

  formPage(app, path, {
    config,
    schema,
    fields: {},
    load: actorOf,
    page: async (request, actor) => {
      const found = await upstreamAccounts.getConnectable(actor, idOf(request))
      return {
        view: 'upstreams/connect',
        data: {
          title: `Connect ${found.upstream.name}`,
          width: 'narrow',
          ...toConnectView(found, actor),
          home: homeOf(found),
        },
      }
    },
    save: async (request, actor, _typed, reply) => {
      const started = await upstreamAccounts.start(actor, idOf(request))
      const { state, authorization, upstream, holder } = started
      pendingAuthorizations.save(
        request,
        { state, userId: actor.userId, upstreamId: upstream.id, holder },
        authorization,
      )
      // Not a redirect: browsers apply `form-action` to redirects after a form. The page also says where this leads.
      return reply.page('upstreams/connect-leave', {
        title: `Connect ${upstream.name}`,
        width: 'narrow',
        ...toLeaveView(started),
        home: homeOf(started),
      })
    },
  })

  app.post(`${path}/disconnection`, { config, schema }, async (request, reply) => {
    const actor = actorOf(request)
    const found = await upstreamAccounts.getConnectable(actor, idOf(request))
    await upstreamAccounts.disconnect(actor, found.upstream.id)
    return reply.redirect(addressOf(homeOf(found), { done: 'disconnected' }), 303)
  })

  app.get(CALLBACK_PATH, { config }, async (request, reply) => {
    const actor = actorOf(request)
    const { state } = Answer.parse(request.query)
    const returned = state === '' ? undefined : await pendingAuthorizations.take(request, state, actor.userId)
    if (returned === undefined) throw notBegun()
    const found = await upstreamAccounts.finish(actor, returned, queryOf(request))
    return reply.redirect(addressOf(homeOf(found), { done: 'connected' }), 303)
  })
}
