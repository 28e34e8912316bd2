import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import type { LinkedIdentity } from '../../identity/external/external-identities.store.ts'
import { saveExternalSignIn } from '../../identity/external/external-sign-in.session.ts'
import { ownPassword } from '../../identity/second-factor/second-factor.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { parseReturnTo } from '../../lib/http/pages/return-to.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { timeSchema, uuidParams } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'

const USER = { access: 'user' } as const
const TAGS = ['external sign-in']

const NewIdentity = z.object({
  password: ownPassword.optional().describe('The password of the account, if it has one'),
  returnTo: z.string().optional().describe('The path to return to afterwards'),
})

const NewIdentityView = z
  .object({ url: z.string().describe('The provider’s URL, to be opened in the same browser') })
  .meta({ id: 'NewIdentity' })

const IdentityView = z
  .object({
    id: z.uuid(),
    issuer: z.string(),
    subject: z.string().describe('The user’s id at the provider'),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'Identity' })

const toIdentityView = ({ id, issuer, subject, createdAt, updatedAt }: LinkedIdentity) => ({
  id,
  issuer,
  subject,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

export const externalIdentityRoutes =
  ({ accounts }: { accounts: AccountService }): FastifyPluginAsyncZod =>
  async app => {
    app.get(
      '/me/identities',
      {
        config: USER,
        schema: {
          tags: TAGS,
          summary: 'List your identities at the external provider',
          querystring: pageQuery,
          response: { 200: pageOf(IdentityView) },
        },
      },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await accounts.listIdentities(actorOf(request), page), page, toIdentityView)
      },
    )

    app.post(
      '/me/identities',
      {
        config: USER,
        schema: {
          tags: TAGS,
          summary: 'Start linking your account to an identity at the external provider (requires a browser session)',
          body: NewIdentity,
          response: { 200: NewIdentityView },
        },
      },
      async request => {
        if (request.signedInBy !== 'session') {
          throw new AppError('unauthenticated', 'Linking requires a browser session, and this request has none.')
        }
        const { password, returnTo } = request.body
        const { url, secrets } = await accounts.beginLinking(actorOf(request), password)
        saveExternalSignIn(request, { ...secrets, returnTo: parseReturnTo(returnTo), linkTo: actorOf(request).userId })
        return { url }
      },
    )

    app.delete(
      '/me/identities/:id',
      {
        config: USER,
        schema: { tags: TAGS, summary: 'Unlink an identity', params: uuidParams, response: { 204: z.null() } },
      },
      async (request, reply) => {
        await accounts.removeIdentity(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
