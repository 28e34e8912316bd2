import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf } from '../../lib/http/id-paging.ts'
import { pageOf, pageQuery, toPage } from '../../lib/http/paging.ts'
import { timeSchema, uuidParams } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { OwnAccount } from '../../upstreams/oauth-client/accounts.store.ts'
import type { UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'

const config = { access: 'user' } as const
const noContent = { 204: z.null() }

const AccountView = z.object({
  id: z.string(),
  upstream: z.object({ id: z.string(), name: z.string().nullable() }),
  server: z.object({
    id: z.string(),
    name: z.string().nullable().describe('null if you can no longer use the server'),
  }),
  connectUrl: z.string().nullable().describe('the page where the account is reconnected'),
  connectedAt: timeSchema,
  brokenSince: timeSchema.nullable().describe('since when the account needs to be reconnected'),
  createdAt: timeSchema,
  updatedAt: timeSchema,
})

type Parts = { upstreamAccounts: UpstreamAccounts; baseUrl: string }

/** Accounts at upstreams: the user's own, and the shared account of an upstream. */
export const upstreamAccountRoutes =
  ({ upstreamAccounts, baseUrl }: Parts): FastifyPluginAsyncZod =>
  async app => {
    const toView = async (actor: Actor, account: OwnAccount): Promise<z.infer<typeof AccountView>> => {
      const mayUse = await upstreamAccounts.mayUse(actor, account)
      return {
        id: account.id,
        // Users who lost access must not learn the current names.
        upstream: { id: account.upstreamId, name: mayUse ? account.upstreamName : null },
        server: { id: account.serverId, name: mayUse ? account.serverName : null },
        connectUrl: mayUse ? `${baseUrl}${connectPath(account.upstreamId)}` : null,
        connectedAt: account.connectedAt.toISOString(),
        brokenSince: account.brokenAt?.toISOString() ?? null,
        createdAt: account.createdAt.toISOString(),
        updatedAt: account.updatedAt.toISOString(),
      }
    }

    app.get(
      '/me/upstream-accounts',
      {
        config,
        schema: {
          tags: ['account'],
          summary: 'List your accounts at upstreams',
          querystring: pageQuery,
          response: { 200: pageOf(AccountView) },
        },
      },
      async request => {
        const page = idPageOf(request.query)
        const actor = actorOf(request)
        const found = await upstreamAccounts.listOwn(actor, page)
        const { items, nextCursor } = toPage(found, page.limit, last => last.id)
        return { items: await Promise.all(items.map(account => toView(actor, account))), nextCursor }
      },
    )

    app.delete(
      '/me/upstream-accounts/:id',
      {
        config,
        schema: {
          tags: ['account'],
          summary: 'Disconnect one of your accounts; revokes and deletes its tokens',
          params: uuidParams,
          response: noContent,
        },
      },
      async (request, reply) => {
        await upstreamAccounts.removeOwn(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/upstreams/:id/account',
      {
        config,
        schema: {
          tags: ['upstreams'],
          summary: 'Disconnect the shared account of an upstream; revokes and deletes its tokens',
          params: uuidParams,
          response: noContent,
        },
      },
      async (request, reply) => {
        await upstreamAccounts.disconnect(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
