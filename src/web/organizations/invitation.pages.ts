import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { PASSWORD_HINT, SignUp } from '../accounts/index.ts'
import {
  actorOf,
  beginSession,
  type FormPage,
  formText,
  parseForm,
  parseInput,
  showForm,
  submitForm,
} from '../platform/http/index.ts'
import { invitationPath } from './invitation-link.ts'
import type { InvitationService } from './invitations.service.ts'

const ANYONE = { access: 'anyone' } as const
const USER = { access: 'user' } as const
/** Its form does nothing in a session's name, and is sent by who has none. */
const STRANGERS = { access: 'anyone', isForStrangers: true } as const

const Query = z.object({ token: z.string().catch('') })
const JoinForm = { token: formText }
const SignUpForm = { token: formText, password: formText }

/** What this page asks of accounts. */
type Accounts = {
  signUp: (input: { email: string; password: string; invitation: string; address: string }) => Promise<{ id: string }>
}

type Parts = { invitations: InvitationService; accounts: Accounts }

/** Who opened the link: nobody yet, who it is for, or somebody who is signed in with another address. */
const standingOf = ({ actor, signedInBy }: FastifyRequest, email: string): 'stranger' | 'invited' | 'other' => {
  if (actor === undefined || signedInBy !== 'session') return 'stranger'
  return actor.email === email ? 'invited' : 'other'
}

/** What the link in an invitation's letter opens. Looking at it uses nothing up. */
export const invitationPages =
  ({ invitations, accounts }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
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
          passwordHint: `Of your new account: ${PASSWORD_HINT}`,
        },
        labels: { password: 'password' },
      }
    }

    app.get('/invitation', { config: ANYONE }, async (request, reply) =>
      showForm(reply, await pageFor(request, Query.parse(request.query).token)),
    )

    app.post('/invitation', { config: USER }, async (request, reply) => {
      const { token } = parseForm(JoinForm, request.body)
      return submitForm(reply, await pageFor(request, token), async () => {
        const { name, role } = await invitations.acceptInvitation(actorOf(request), token)
        return reply.page('organizations/joined', { title: `You have joined ${name}`, name, role })
      })
    })

    app.post('/invitation/sign-up', { config: STRANGERS }, async (request, reply) => {
      const { token, password } = parseForm(SignUpForm, request.body)
      const page = await pageFor(request, token)
      return submitForm(reply, page, async () => {
        // The address is the invited one: no other could take the invitation up.
        const { email } = await invitations.getOpenInvitation(token)
        const wish = { ...parseInput(SignUp, { email, password }), invitation: token, address: request.ip }
        const user = await accounts.signUp(wish)
        await beginSession(request, reply, user.id)
        return reply.redirect('/', 303)
      })
    })
  }
