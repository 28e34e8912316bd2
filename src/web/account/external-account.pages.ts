import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { saveExternalSignIn } from '../../identity/external/external-sign-in.session.ts'
import { ownPassword } from '../../identity/second-factor/second-factor.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formPage, formText, postForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { idOf, idRoute, ownForm } from '../frame/user-page.ts'
import { accountFrame } from './account-tabs.ts'

const PATH = '/account/identities'
/** Maximum number of identities shown. No user has anywhere near that many. */
const MAX_SHOWN = 100

const Link = z.object({ password: ownPassword })

/** Registers the page where users link and unlink their identity at the external provider. */
export const externalAccountPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  const identitiesPage = async (_request: FastifyRequest, actor: Actor): Promise<FormPage> => {
    const identities = await accounts.listIdentities(actor, { limit: MAX_SHOWN, afterId: undefined })
    return {
      view: 'account/external-identities',
      data: {
        ...accountFrame('identities'),
        identities: identities.slice(0, MAX_SHOWN).map(({ id, issuer, subject }) => ({ id, issuer, subject })),
        provider: accounts.externalProviderName,
        hasPassword: await accounts.hasPassword(actor),
      },
      labels: { password: 'password' },
    }
  }

  formPage(app, PATH, {
    ...ownForm,
    fields: { password: formText },
    page: identitiesPage,
    save: async (request, actor, typed, reply) => {
      const { password } = parseInput(Link, typed)
      const { url, secrets } = await accounts.beginLinking(actor, password === '' ? undefined : password)
      saveExternalSignIn(request, { ...secrets, returnTo: PATH, linkTo: actor.userId })
      // No redirect: browsers apply `form-action` to redirects after a form, and the provider may redirect further.
      return reply.page('account/redirecting', { title: 'Redirecting', path: url, refreshTo: url })
    },
  })

  postForm(app, `${PATH}/:id/removal`, {
    ...idRoute,
    fields: {},
    load: actorOf,
    page: identitiesPage,
    save: async (request, actor) => {
      await accounts.removeIdentity(actor, idOf(request))
      return PATH
    },
  })
}
