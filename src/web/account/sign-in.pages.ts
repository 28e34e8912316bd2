import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { SignIn, SignUp } from '../../identity/accounts.schema.ts'
import type { AccountService } from '../../identity/accounts.service.ts'
import { PASSWORD_HINT } from '../../identity/credentials.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { parseReturnTo } from '../../lib/http/pages/return-to.ts'
import { readTypedForm } from '../../lib/http/pages/typed-form.ts'
import { beginSession, endSession } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { visitorOf } from '../../lib/http/visitor.ts'
import { redirectAfterForm } from './redirect-after-form.ts'
import { continueSignIn } from './second-factor.session.ts'
import { signInAgainPage } from './typed-form.pages.ts'

/** Signed-out visitors submit these forms, so the forms need no CSRF token. */
const STRANGERS = { access: 'anyone', isForStrangers: true } as const
const ANYONE = { access: 'anyone' } as const

const LABELS = { email: 'email', password: 'password', setupToken: 'setup token' }

const SignInForm = { email: formText, password: formText, return_to: formText, typed: formText }
const SignUpForm = { ...SignInForm, setup_token: formText }
const SignOutForm = { return_to: formText }
const Query = z.object({ return_to: z.string().catch('/') })

const withReturnTo = (path: string, returnTo: string): string =>
  returnTo === '/' ? path : `${path}?${new URLSearchParams({ return_to: returnTo })}`

/** Registers the sign-in, sign-up and sign-out pages. */
export const signInPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  /** Returns the data for the external provider's button; undefined if there is no provider. */
  const externalFor = (returnTo: string) => {
    const name = accounts.externalProviderName
    return name === undefined ? undefined : { name, href: withReturnTo('/sign-in/external', returnTo) }
  }

  const signInPage = (returnTo: string, email = ''): FormPage => {
    const data = { title: 'Sign in', returnTo, email, signUpHref: withReturnTo('/sign-up', returnTo) }
    return { view: 'account/sign-in', data: { ...data, external: externalFor(returnTo) }, labels: LABELS }
  }

  const signUpPage = async (request: FastifyRequest, returnTo: string, email = ''): Promise<FormPage> => {
    const { closed, needsSetupToken } = await accounts.getSignUpTerms(visitorOf(request))
    const data = { title: 'Create account', returnTo, email, signInHref: withReturnTo('/sign-in', returnTo) }
    return {
      view: 'account/sign-up',
      data: { ...data, closed, needsSetupToken, passwordHint: PASSWORD_HINT, external: externalFor(returnTo) },
      labels: LABELS,
    }
  }

  /** Shows the page, or redirects users who are already signed in. */
  const showToStrangers = async (
    reply: FastifyReply,
    pageFor: (returnTo: string) => FormPage | Promise<FormPage>,
  ): Promise<FastifyReply> => {
    const returnTo = parseReturnTo(Query.parse(reply.request.query).return_to)
    if (reply.request.signedInBy === 'session') return reply.redirect(returnTo, 303)
    return showForm(reply, await pageFor(returnTo))
  }

  app.get('/sign-in', { config: STRANGERS }, (_request, reply) => showToStrangers(reply, signInPage))

  app.post('/sign-in', { config: STRANGERS }, (request, reply) => {
    const form = parseForm(SignInForm, request.body)
    const returnTo = parseReturnTo(form.return_to)
    const typed = readTypedForm(form.typed)
    const page = () => (typed === undefined ? signInPage(returnTo, form.email) : signInAgainPage(typed, form.email))
    return submitForm(reply, page, async () => {
      const first = await accounts.beginSignIn({ ...parseInput(SignIn, form), address: request.ip })
      return continueSignIn(request, reply, first, { returnTo }, typed)
    })
  })

  app.get('/sign-up', { config: STRANGERS }, (request, reply) =>
    showToStrangers(reply, returnTo => signUpPage(request, returnTo)),
  )

  app.post('/sign-up', { config: STRANGERS }, async (request, reply) => {
    const { setup_token, ...form } = parseForm(SignUpForm, request.body)
    const returnTo = parseReturnTo(form.return_to)
    return submitForm(
      reply,
      () => signUpPage(request, returnTo, form.email),
      async () => {
        const input = parseInput(SignUp, { ...form, setupToken: setup_token === '' ? undefined : setup_token })
        const user = await accounts.signUp({ ...input, ...visitorOf(request) })
        await beginSession(request, reply, user.id)
        return redirectAfterForm(reply, returnTo)
      },
    )
  })

  app.post('/sign-out', { config: ANYONE }, async (request, reply) => {
    const { return_to } = parseForm(SignOutForm, request.body)
    const actor = request.signedInBy === 'session' ? request.actor : undefined
    await endSession(request, reply)
    if (actor !== undefined) await accounts.noteSignOut(actor)
    return redirectAfterForm(reply, parseReturnTo(return_to))
  })
}
