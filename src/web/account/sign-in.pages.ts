import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  beginSession,
  endSession,
  type FormPage,
  formText,
  parseForm,
  parseInput,
  parseReturnTo,
  readTypedForm,
  showForm,
  submitForm,
} from '../platform/http/index.ts'
import { SignIn, SignUp } from './accounts.schema.ts'
import type { AccountService } from './accounts.service.ts'
import { PASSWORD_HINT } from './credentials.ts'
import { goOn } from './go-on.ts'
import { leadOn } from './second-factor.session.ts'
import { signInAgainPage } from './typed-form.pages.ts'

/** Their forms do nothing in a session's name, and are sent by who has none. */
const STRANGERS = { access: 'anyone', isForStrangers: true } as const
const ANYONE = { access: 'anyone' } as const

const LABELS = { email: 'address', password: 'password', setupToken: 'setup token' }

const SignInForm = { email: formText, password: formText, return_to: formText, typed: formText }
const SignUpForm = { ...SignInForm, setup_token: formText }
const SignOutForm = { return_to: formText }
const Query = z.object({ return_to: z.string().catch('/') })

const withReturnTo = (path: string, returnTo: string): string =>
  returnTo === '/' ? path : `${path}?${new URLSearchParams({ return_to: returnTo })}`

const returnToOf = (request: FastifyRequest): string => parseReturnTo(Query.parse(request.query).return_to)

/** Sign-in, sign-up and sign-out for people. */
export const signInPages =
  ({ accounts }: { accounts: AccountService }) =>
  async (app: FastifyInstance): Promise<void> => {
    /** The button of the external provider, if there is one. */
    const externalFor = (returnTo: string) => {
      const name = accounts.externalProviderName
      return name === undefined ? undefined : { name, href: withReturnTo('/sign-in/external', returnTo) }
    }

    const signInPage = (returnTo: string, email = ''): FormPage => {
      const data = { title: 'Sign in', returnTo, email, signUpHref: withReturnTo('/sign-up', returnTo) }
      return { view: 'accounts/sign-in', data: { ...data, external: externalFor(returnTo) }, labels: LABELS }
    }

    const signUpPage = async (returnTo: string, email = ''): Promise<FormPage> => {
      const { closed, needsSetupToken } = await accounts.getSignUpTerms()
      const data = { title: 'Sign up', returnTo, email, signInHref: withReturnTo('/sign-in', returnTo) }
      return {
        view: 'accounts/sign-up',
        data: { ...data, closed, needsSetupToken, passwordHint: PASSWORD_HINT, external: externalFor(returnTo) },
        labels: LABELS,
      }
    }
    /** Who has a session already is sent on: another account takes signing out first. */
    const showToStrangers = async (
      request: FastifyRequest,
      reply: FastifyReply,
      pageFor: (returnTo: string) => FormPage | Promise<FormPage>,
    ): Promise<FastifyReply> => {
      const returnTo = returnToOf(request)
      if (request.signedInBy === 'session') return reply.redirect(returnTo, 303)
      return showForm(reply, await pageFor(returnTo))
    }

    app.get('/sign-in', { config: STRANGERS }, (request, reply) => showToStrangers(request, reply, signInPage))

    app.post('/sign-in', { config: STRANGERS }, (request, reply) => {
      const form = parseForm(SignInForm, request.body)
      const returnTo = parseReturnTo(form.return_to)
      const typed = readTypedForm(form.typed)
      const page = typed === undefined ? signInPage(returnTo, form.email) : signInAgainPage(typed, form.email)
      return submitForm(reply, page, async () => {
        const first = await accounts.beginSignIn({ ...parseInput(SignIn, form), address: request.ip })
        return leadOn(request, reply, first, { returnTo }, typed)
      })
    })

    app.get('/sign-up', { config: STRANGERS }, (request, reply) => showToStrangers(request, reply, signUpPage))

    app.post('/sign-up', { config: STRANGERS }, async (request, reply) => {
      const { setup_token, ...form } = parseForm(SignUpForm, request.body)
      const returnTo = parseReturnTo(form.return_to)
      return submitForm(reply, await signUpPage(returnTo, form.email), async () => {
        const wish = parseInput(SignUp, { ...form, setupToken: setup_token === '' ? undefined : setup_token })
        const user = await accounts.signUp({ ...wish, address: request.ip })
        await beginSession(request, reply, user.id)
        return goOn(reply, returnTo)
      })
    })

    app.post('/sign-out', { config: ANYONE }, async (request, reply) => {
      const { return_to } = parseForm(SignOutForm, request.body)
      const actor = request.signedInBy === 'session' ? request.actor : undefined
      await endSession(request, reply)
      if (actor !== undefined) await accounts.noteSignOut(actor)
      return goOn(reply, parseReturnTo(return_to))
    })
  }
