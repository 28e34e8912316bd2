import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { exactTime } from '../../lib/http/pages/time-text.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { OwnAccount } from '../../upstreams/oauth-client/accounts.store.ts'
import type { UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'
import { accountFrame } from '../account/account-tabs.ts'
import { doneText, idOf, idRoute, readList, userRoute } from '../frame/user-page.ts'

export const OWN_ACCOUNTS_PATH = '/account/upstreams'

const DONE = {
  connected: 'Connected. Your calls now use your own account.',
  disconnected: 'Disconnected. Patchbay has deleted its data for that account.',
}

/** Registers the pages on which users list and disconnect their own accounts at upstreams. */
export const ownUpstreamAccountPages: FastifyPluginAsync<{ upstreamAccounts: UpstreamAccounts }> = async (
  app,
  { upstreamAccounts },
) => {
  const toRow = async (request: FastifyRequest, account: OwnAccount) => {
    const mayUse = await upstreamAccounts.mayUse(actorOf(request), account)
    return {
      id: account.id,
      name: mayUse ? account.upstream.name : undefined,
      // A user who has lost access must not learn the server's current name.
      serverName: mayUse ? account.upstream.server.name : undefined,
      since: exactTime(account.connectedAt),
      isBroken: account.brokenAt !== undefined,
      renewHref: mayUse ? connectPath(account.upstreamId) : undefined,
    }
  }

  app.get(OWN_ACCOUNTS_PATH, userRoute, async (request, reply) => {
    const { cursor } = listQuery.parse(request.query)
    const list = (page: IdPage) => upstreamAccounts.listOwn(actorOf(request), page)
    const { items, next } = await readList({ path: OWN_ACCOUNTS_PATH, cursor }, list, account => account)
    return reply.page('upstreams/own-accounts', {
      ...accountFrame('upstreams'),
      accounts: await Promise.all(items.map(account => toRow(request, account))),
      next,
      done: doneText(request, DONE),
    })
  })

  app.post(`${OWN_ACCOUNTS_PATH}/:id/removal`, idRoute, async (request, reply) => {
    await upstreamAccounts.removeOwn(actorOf(request), idOf(request))
    return reply.redirect(`${OWN_ACCOUNTS_PATH}?done=disconnected`, 303)
  })
}
