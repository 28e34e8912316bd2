import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { shorten } from '../../lib/kernel/format.ts'
import { EVERYBODY } from '../../upstreams/oauth-client/account.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { PendingAuthorization } from '../../upstreams/oauth-client/connect-account.ts'
import { CALLBACK_PATH } from '../../upstreams/oauth-client/patchbay-client.ts'
import type { PendingAuthorizations } from '../../upstreams/oauth-client/pending-authorizations.ts'
import type { Connectable, UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import { upstreamPath } from '../frame/server-frame.ts'
import { queryOf, userRoute } from '../frame/user-page.ts'
import { OWN_ACCOUNTS_PATH } from './own-upstream-accounts.pages.ts'
import { toConnected } from './upstream-page.view.ts'

const Params = z.object({ upstreamId: uuidParam })
const upstreamRoute = { ...userRoute, schema: { params: Params } }
const Answer = z.object({ state: formText })

const notBegun = (): AppError =>
  new AppError(
    'invalid_request',
    'This connection was not started in this browser, is already complete, or took more than ten minutes. Start again.',
  )

/** Returns the path of the page that shows the connected account. */
const homeOf = ({ upstream, holder }: Pick<Connectable, 'upstream' | 'holder'>): string =>
  holder === EVERYBODY ? upstreamPath(upstream.serverId, upstream.id) : OWN_ACCOUNTS_PATH

/** Returns the upstream's host. Does not resolve globals, because not every caller may see their values. */
const hostOf = ({ config }: Upstream): string =>
  config.transport === 'stdio' ? '' : (URL.parse(config.url)?.host ?? config.url.split('/')[2] ?? '')

const SHORT_CHARS = 18

/** Returns the data for the page that asks the user to connect an account. */
const toConnectView = ({ upstream, server, holder, account }: Connectable, { email }: Actor) => ({
  path: connectPath(upstream.id),
  name: upstream.name,
  shortName: shorten(upstream.name, SHORT_CHARS),
  host: hostOf(upstream),
  serverName: server.name,
  email,
  isShared: holder === EVERYBODY,
  connected: toConnected(account),
})

type Started = Connectable & { authorization: PendingAuthorization; authorizationUrl: string }

/** Returns the data for the page that tells the user where the browser goes next, and why. */
const toLeaveView = ({ upstream, server, authorization, authorizationUrl }: Started) => ({
  name: upstream.name,
  shortName: shorten(upstream.name, SHORT_CHARS),
  serverName: server.name,
  host: new URL(authorizationUrl).host,
  issuer: authorization.server.issuer,
  isOtherHost: new URL(authorizationUrl).host !== new URL(authorization.url).host,
  upstreamHost: new URL(authorization.url).host,
  scopes: authorization.scope?.split(' ') ?? [],
  authorizationUrl,
})

type Parts = { upstreamAccounts: UpstreamAccounts; pendingUpstreamAuthorizations: PendingAuthorizations }

/**
 * Registers the pages for connecting an account at an upstream: one that explains the purpose, one that names the
 * browser's next destination, and the callback. The browser goes to an authorization server only when the user clicks a
 * link on a page that names this server.
 */
export const connectPages: FastifyPluginAsync<Parts> = async (
  app,
  { upstreamAccounts, pendingUpstreamAuthorizations: pendingAuthorizations },
) => {
  const path = connectPath(':upstreamId')
  const idOf = (request: FastifyRequest): string => Params.parse(request.params).upstreamId

  formPage(app, path, {
    ...upstreamRoute,
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
      const pending = { state, userId: actor.userId, upstreamId: upstream.id, holder }
      pendingAuthorizations.save(request, pending, authorization)
      // Not a redirect: browsers apply `form-action` to redirects after a form. The page also shows the destination.
      return reply.page('upstreams/connect-leave', {
        title: `Connect ${upstream.name}`,
        width: 'narrow',
        ...toLeaveView(started),
        home: homeOf(started),
      })
    },
  })

  app.post(`${path}/disconnection`, upstreamRoute, async (request, reply) => {
    const actor = actorOf(request)
    const found = await upstreamAccounts.getConnectable(actor, idOf(request))
    await upstreamAccounts.disconnect(actor, found.upstream.id)
    return reply.redirect(addressOf(homeOf(found), { done: 'disconnected' }), 303)
  })

  app.get(CALLBACK_PATH, userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const { state } = Answer.parse(request.query)
    const returned = state === '' ? undefined : await pendingAuthorizations.take(request, state, actor.userId)
    if (returned === undefined) throw notBegun()
    const found = await upstreamAccounts.finish(actor, returned, queryOf(request))
    return reply.redirect(addressOf(homeOf(found), { done: 'connected' }), 303)
  })
}
