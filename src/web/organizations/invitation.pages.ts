import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { SignUp } from '../../identity/accounts.schema.ts'
import type { AccountService } from '../../identity/accounts.service.ts'
import { PASSWORD_HINT } from '../../identity/credentials.ts'
import { type FormPage, formText, postForm, showForm } from '../../lib/http/pages/forms.ts'
import { beginSession } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { visitorOf } from '../../lib/http/visitor.ts'
import { invitationPath } from '../../tenancy/invitations/invitation-link.ts'
import type { InvitationService } from '../../tenancy/invitations/invitations.service.ts'
import { ownForm } from '../frame/user-page.ts'

const ANYONE = { access: 'anyone' } as const
/** Signed-out visitors submit this form, so it needs no CSRF token. */
const STRANGERS = { access: 'anyone', isForStrangers: true } as const

const Query = z.object({ token: z.string().catch('') })

type Parts = { invitations: InvitationService; accounts: Pick<AccountService, 'signUp'> }

/** Returns who opened the link: a visitor without a session, the invited user, or another user. */
const standingOf = ({ actor, signedInBy }: FastifyRequest, email: string): 'stranger' | 'invited' | 'other' => {
  if (actor === undefined || signedInBy !== 'session') return 'stranger'
  return actor.email === email ? 'invited' : 'other'
}

/** Registers the page that the link in an invitation email opens. Viewing it does not use up the invitation. */
export const invitationPages: FastifyPluginAsync<Parts> = async (app, { invitations, accounts }) => {
  const pageFor = async (request: FastifyRequest, token: string): Promise<FormPage> => {
    const { organizationName, role, email, invitedBy } = await invitations.getOpenInvitation(token)
    const path = invitationPath(token)
    return {
      view: 'organizations/invitation',
      data: {
        title: `Join ${organizationName}`,
        organizationName,
        role,
        email,
        invitedBy,
        token,
        path,
        signInHref: `/sign-in?${new URLSearchParams({ return_to: path })}`,
        standing: standingOf(request, email),
        passwordHint: `For your new account: ${PASSWORD_HINT}`,
      },
      labels: { password: 'password' },
    }
  }

  app.get('/invitation', { config: ANYONE }, async (request, reply) =>
    showForm(reply, await pageFor(request, Query.parse(request.query).token)),
  )

  postForm(app, '/invitation', {
    ...ownForm,
    fields: { token: formText },
    page: (request, _actor, typed) => pageFor(request, typed?.token ?? ''),
    save: async (_request, actor, { token }, reply) => {
      const { name, role } = await invitations.acceptInvitation(actor, token)
      return reply.page('organizations/joined', { title: `You have joined ${name}`, name, role })
    },
  })

  postForm(app, '/invitation/sign-up', {
    config: STRANGERS,
    fields: { token: formText, password: formText },
    load: () => undefined,
    page: (request, _loaded, typed) => pageFor(request, typed?.token ?? ''),
    save: async (request, _loaded, { token, password }, reply) => {
      // Use the invited address, because no other address can accept the invitation.
      const { email } = await invitations.getOpenInvitation(token)
      const input = { ...parseInput(SignUp, { email, password }), invitation: token, ...visitorOf(request) }
      const user = await accounts.signUp(input)
      await beginSession(request, reply, user.id)
      return '/'
    },
  })
}
