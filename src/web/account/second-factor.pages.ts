import type { FastifyPluginAsync } from 'fastify'
import type { AccountService } from '../../identity/accounts.service.ts'
import { formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { readTypedForm } from '../../lib/http/pages/typed-form.ts'
import { beginSession } from '../../lib/http/sessions.ts'
import { redirectAfterForm } from './redirect-after-form.ts'
import { codePage, findWaitingSignIn } from './second-factor.session.ts'
import { offerTyped, signInAgainPage } from './typed-form.pages.ts'

const STRANGERS = { access: 'anyone', isForStrangers: true } as const

const CodeForm = { code: formText, typed: formText }

/** Registers the page that asks for the second-factor code after the password. */
export const secondFactorPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  app.get('/sign-in/code', { config: STRANGERS }, async (request, reply) =>
    findWaitingSignIn(request) === undefined ? reply.redirect('/sign-in', 303) : showForm(reply, codePage(undefined)),
  )

  app.post('/sign-in/code', { config: STRANGERS }, async (request, reply) => {
    const waiting = findWaitingSignIn(request)
    const { code, ...form } = parseForm(CodeForm, request.body)
    const typed = readTypedForm(form.typed)
    if (waiting === undefined) {
      return typed === undefined ? reply.redirect('/sign-in', 303) : showForm(reply, signInAgainPage(typed))
    }
    return submitForm(
      reply,
      () => codePage(typed),
      async () => {
        const user = await accounts.finishSignIn(waiting, code, request.ip)
        if (waiting.identity !== undefined) await accounts.linkAfterCode(user, waiting.identity, request.ip)
        await beginSession(request, reply, user.id)
        return typed === undefined ? redirectAfterForm(reply, waiting.returnTo) : offerTyped(reply, typed, user.id)
      },
    )
  })
}
