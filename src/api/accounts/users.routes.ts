import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { orNull, timeSchema } from '../../lib/http/schemas.ts'

const ListedUserView = z
  .object({
    id: z.uuid(),
    email: z.string(),
    isVerified: z.boolean().describe('Whether the user has confirmed the email address'),
    isOperator: z.boolean(),
    suspendedReason: orNull(z.string()).describe('null if the account is not suspended'),
    createdAt: timeSchema,
  })
  .meta({ id: 'ListedUser' })

const querystring = pageQuery.extend({ q: listQuery.shape.q.describe('part of the email address') })

/** The list of all accounts, for the operator. */
export const userRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (app, { accounts }) => {
  app.get(
    '/users',
    {
      config: { access: 'operator' },
      schema: {
        tags: ['users'],
        summary: 'List all accounts, oldest first',
        querystring,
        response: { 200: pageOf(ListedUserView) },
      },
    },
    async request => {
      const page = idPageOf(request.query)
      const users = await accounts.listUsers(request.query.q, page)
      return toIdPage(users, page, user => ({ ...user, suspendedReason: user.suspendedReason ?? null }))
    },
  )
}
