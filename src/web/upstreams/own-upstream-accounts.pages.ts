import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { listQuery, nextAddressOf } from '../../lib/http/list-query.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { DEFAULT_PAGE_SIZE } from '../../lib/kernel/limits.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { OwnAccount } from '../../upstreams/oauth-client/accounts.store.ts'
import type { UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'
import { accountFrame } from '../account/account-tabs.ts'

const config = { access: 'user' } as const
export const OWN_ACCOUNTS_PATH = '/account/upstreams'

const Query = listQuery.extend({ done: formText })

const DONE: Readonly<Record<string, string>> = {
  connected: 'Connected. Your calls now use your own account.',
  disconnected: 'Disconnected. Patchbay has deleted what it stored of that account.',
}

/** Pages that list the user's own accounts at upstreams and disconnect them. */
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
      since: shownTime(account.connectedAt),
      isBroken: account.brokenAt !== undefined,
      renewHref: mayUse ? connectPath(account.upstreamId) : undefined,
    }
  }

  app.get(OWN_ACCOUNTS_PATH, { config }, async (request, reply) => {
    const { done, cursor } = Query.parse(request.query)
    const page = idPageOf({ limit: DEFAULT_PAGE_SIZE, cursor })
    const found = await upstreamAccounts.listOwn(actorOf(request), page)
    const { items, nextCursor } = toIdPage(found, page, account => account)
    return reply.page('upstreams/own-accounts', {
      ...accountFrame('upstreams'),
      accounts: await Promise.all(items.map(account => toRow(request, account))),
      next: nextAddressOf(OWN_ACCOUNTS_PATH, nextCursor),
      done: Object.hasOwn(DONE, done) ? DONE[done] : undefined,
    })
  })

  app.post(`${OWN_ACCOUNTS_PATH}/:id/removal`, { config, schema: { params: uuidParams } }, async (request, reply) => {
    await upstreamAccounts.removeOwn(actorOf(request), uuidParams.parse(request.params).id)
    return reply.redirect(`${OWN_ACCOUNTS_PATH}?done=disconnected`, 303)
  })
}
