import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  actorOf,
  type FormPage,
  formText,
  parseForm,
  parseInput,
  showForm,
  submitForm,
  uuidParam,
} from '../platform/http/index.ts'
import { accountFrame } from './account-tabs.ts'
import type { AccountService } from './accounts.service.ts'
import { keepJourney } from './external-sign-in.session.ts'
import { ownPassword } from './second-factor.schema.ts'

const config = { access: 'user' } as const
const PATH = '/account/identities'
/** Nobody has as many; who does sees the first. */
const MAX_SHOWN = 100

const Params = z.object({ id: uuidParam })
const LinkForm = { password: formText }
const Link = z.object({ password: ownPassword })

/** Who one is at the external provider: linking and unlinking. */
export const externalAccountPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    const identitiesPage = async (request: FastifyRequest): Promise<FormPage> => {
      const identities = await accounts.listIdentities(actorOf(request), { limit: MAX_SHOWN, afterId: undefined })
      return {
        view: 'accounts/external-identities',
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
        keepJourney(request, { ...secrets, returnTo: PATH, linkTo: actorOf(request).userId })
        // No redirect: browsers hold those that follow a form to `form-action`, and the provider may send them on.
        return reply.page('accounts/go-on', { title: 'One moment', path: url, refreshTo: url })
      })
    })

    app.post(`${PATH}/:id/removal`, { config, schema: { params: Params } }, async (request, reply) =>
      submitForm(reply, await identitiesPage(request), async () => {
        await accounts.removeIdentity(actorOf(request), Params.parse(request.params).id)
        return reply.redirect(PATH, 303)
      }),
    )
  }
