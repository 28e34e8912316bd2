import type { FastifyInstance } from 'fastify'
import { beginSession, type FormPage, formText, parseForm, showForm, submitForm } from '../platform/http/index.ts'
import type { AccountService } from './accounts.service.ts'
import { goOn } from './go-on.ts'
import { findWaitingSignIn } from './second-factor.session.ts'

const STRANGERS = { access: 'anyone', isForStrangers: true } as const

const CODE_PAGE: FormPage = {
  view: 'accounts/second-factor-code',
  data: { title: 'Second step' },
  labels: { code: 'code' },
}

/** Asks who has given the password for the code of their second factor. */
export const secondFactorPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get('/sign-in/code', { config: STRANGERS }, async (request, reply) =>
      findWaitingSignIn(request) === undefined ? reply.redirect('/sign-in', 303) : showForm(reply, CODE_PAGE),
    )

    app.post('/sign-in/code', { config: STRANGERS }, async (request, reply) => {
      const waiting = findWaitingSignIn(request)
      if (waiting === undefined) return reply.redirect('/sign-in', 303)
      const { code } = parseForm({ code: formText }, request.body)
      return submitForm(reply, CODE_PAGE, async () => {
        const user = await accounts.finishSignIn(waiting, code, request.ip)
        if (waiting.identity !== undefined) await accounts.linkAfterCode(user, waiting.identity, request.ip)
        await beginSession(request, reply, user.id)
        return goOn(reply, waiting.returnTo)
      })
    })
  }
