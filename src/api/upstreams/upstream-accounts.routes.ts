import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { orNull, timeSchema, uuidParams } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { OwnAccount } from '../../upstreams/oauth-client/accounts.store.ts'
import type { UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'

const params = uuidParams

const AccountView = z.object({
  id: z.string(),
  upstream: z.object({ id: z.string(), name: z.string().nullable() }),
  server: z.object({
    id: z.string(),
    name: z.string().nullable().describe('null if you can no longer use the server'),
  }),
  connectUrl: z.string().nullable().describe('the page where the account is reconnected'),
  connectedAt: timeSchema,
  brokenSince: orNull(timeSchema).describe('time since which the account needs to be reconnected'),
  createdAt: timeSchema,
  updatedAt: timeSchema,
})

type Parts = { upstreamAccounts: UpstreamAccounts; baseUrl: string }

/** Routes for accounts at upstreams: the user's own accounts, and the shared account of an upstream. */
export const upstreamAccountRoutes: FastifyPluginAsyncZod<Parts> = async (app, { upstreamAccounts, baseUrl }) => {
  const ofAccount = resourceRoutes(app, { access: 'user', tags: ['account'] })
  const ofUpstreams = resourceRoutes(app, { access: 'user', tags: ['upstreams'] })

  const toView = async (account: OwnAccount, { actor }: { readonly actor: Actor }) => {
    const mayUse = await upstreamAccounts.mayUse(actor, account)
    return {
      ...account,
      // Users who have lost access must not see the current names.
      upstream: { id: account.upstreamId, name: mayUse ? account.upstream.name : null },
      server: { id: account.upstream.server.id, name: mayUse ? account.upstream.server.name : null },
      connectUrl: mayUse ? `${baseUrl}${connectPath(account.upstreamId)}` : null,
      brokenSince: account.brokenAt,
    }
  }

  ofAccount.list(
    '/me/upstream-accounts',
    { summary: 'List your accounts at MCP servers' },
    { schema: AccountView, toView },
    ({ actor, page }) => upstreamAccounts.listOwn(actor, page),
  )
  ofAccount.remove(
    '/me/upstream-accounts/:id',
    { summary: 'Disconnect one of your accounts; revokes and deletes its tokens', params },
    ({ actor, params }) => upstreamAccounts.removeOwn(actor, params.id),
  )
  ofUpstreams.remove(
    '/upstreams/:id/account',
    { summary: 'Disconnect the shared account of an MCP server; revokes and deletes its tokens', params },
    ({ actor, params }) => upstreamAccounts.disconnect(actor, params.id),
  )
}
