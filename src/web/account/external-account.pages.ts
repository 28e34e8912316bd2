import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { saveExternalSignIn } from '../../identity/external/external-sign-in.session.ts'
import { ownPassword } from '../../identity/second-factor/second-factor.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { accountFrame } from './account-tabs.ts'

const config = { access: 'user' } as const
const PATH = '/account/identities'
/** Far more than anyone has; further identities are not shown. */
const MAX_SHOWN = 100

const Params = z.object({ id: uuidParam })
const LinkForm = { password: formText }
const Link = z.object({ password: ownPassword })

/** Registers the page where users link and unlink their identity at the external provider. */
export const externalAccountPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const identitiesPage = async (request: FastifyRequest): Promise<FormPage> => {
      const identities = await accounts.listIdentities(actorOf(request), { limit: MAX_SHOWN, afterId: undefined })
      return {
        view: 'account/external-identities',
        data: {
          ...accountFrame('identities'),
          section: 'account',
          identities: identities.slice(0, MAX_SHOWN).map(({ id, issuer, subject }) => ({ id, issuer, subject })),
          provider: accounts.externalProviderName,
          hasPassword: await accounts.hasPassword(actorOf(request)),
        },
        labels: { password: 'password' },
      }
    }

    app.get(PATH, { config }, async (request, reply) => showForm(reply, await identitiesPage(request)))

    app.post(PATH, { config }, async (request, reply) => {
      const form = parseForm(LinkForm, request.body)
      return submitForm(reply, await identitiesPage(request), async () => {
        const { password } = parseInput(Link, form)
        const { url, secrets } = await accounts.beginLinking(actorOf(request), password === '' ? undefined : password)
        saveExternalSignIn(request, { ...secrets, returnTo: PATH, linkTo: actorOf(request).userId })
        // No redirect: browsers apply `form-action` to redirects after a form, and the provider may redirect further.
        return reply.page('account/redirecting', { title: 'Redirecting', path: url, refreshTo: url })
      })
    })

    app.post(`${PATH}/:id/removal`, { config, schema: { params: Params } }, async (request, reply) =>
      submitForm(reply, await identitiesPage(request), async () => {
        await accounts.removeIdentity(actorOf(request), Params.parse(request.params).id)
        return reply.redirect(PATH, 303)
      }),
    )
  }
