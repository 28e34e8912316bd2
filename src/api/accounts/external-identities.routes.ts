import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { saveExternalSignIn } from '../../identity/external/external-sign-in.session.ts'
import { ownPassword } from '../../identity/second-factor/second-factor.schema.ts'
import { parseReturnTo } from '../../lib/http/pages/return-to.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { timeSchema, uuidParams } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'

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

export const externalIdentityRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (
  app,
  { accounts },
) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['external sign-in'] })

  routes.list(
    '/me/identities',
    { summary: 'List your identities at the external provider' },
    viewAsIs(IdentityView),
    ({ actor, page }) => accounts.listIdentities(actor, page),
  )
  routes.perform(
    '/me/identities',
    {
      summary: 'Start linking your account to an identity at the external provider (requires a browser session)',
      body: NewIdentity,
    },
    viewAsIs(NewIdentityView),
    async ({ actor, body: { password, returnTo }, request }) => {
      if (request.signedInBy !== 'session') {
        throw new AppError('unauthenticated', 'Linking requires a browser session, and this request has none.')
      }
      const { url, secrets } = await accounts.beginLinking(actor, password)
      saveExternalSignIn(request, { ...secrets, returnTo: parseReturnTo(returnTo), linkTo: actor.userId })
      return { url }
    },
  )
  routes.remove('/me/identities/:id', { summary: 'Unlink an identity', params: uuidParams }, ({ actor, params }) =>
    accounts.removeIdentity(actor, params.id),
  )
}
