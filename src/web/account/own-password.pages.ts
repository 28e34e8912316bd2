import type { FastifyInstance } from 'fastify'
import type { AccountService } from '../../identity/accounts.service.ts'
import { PasswordChange } from '../../identity/mail/mail-flows.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { beginSession } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { SECURITY_PATH, securityPage } from './security-page.ts'

const config = { access: 'user' } as const
const PasswordForm = { currentPassword: formText, password: formText }

/** Registers the page where users change their password. */
export const ownPasswordPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get(SECURITY_PATH, { config }, async (request, reply) =>
      showForm(reply, await securityPage(accounts, request, 'none')),
    )

    app.post('/account/password', { config }, async (request, reply) => {
      const form = parseForm(PasswordForm, request.body)
      return submitForm(reply, await securityPage(accounts, request, 'password'), async () => {
        const { userId } = actorOf(request)
        await accounts.changePassword(actorOf(request), parseInput(PasswordChange, form))
        if (request.signedInBy === 'session') await beginSession(request, reply, userId)
        return reply.redirect(`${SECURITY_PATH}?done=password`, 303)
      })
    })
  }
