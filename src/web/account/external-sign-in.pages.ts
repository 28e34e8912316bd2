import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import {
  findWaitingLink,
  type PendingExternalSignIn,
  saveExternalSignIn,
  saveWaitingLink,
  takeExternalSignIn,
  type WaitingLink,
} from '../../identity/external/external-sign-in.session.ts'
import { CALLBACK_PATH } from '../../identity/external/external-sign-in.ts'
import { ownPassword } from '../../identity/second-factor/second-factor.schema.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { parseReturnTo } from '../../lib/http/pages/return-to.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { visitorOf } from '../../lib/http/visitor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { queryOf } from '../frame/user-page.ts'
import { redirectAfterForm } from './redirect-after-form.ts'
import { continueSignIn } from './second-factor.session.ts'

const ANYONE = { access: 'anyone' } as const
const STRANGERS = { access: 'anyone', isForStrangers: true } as const

const Query = z.object({ return_to: z.unknown().optional() })

const notBegun = (): AppError =>
  new AppError(
    'invalid_request',
    'This sign-in was not started in this browser, is already complete, or took more than ten minutes. Please try again.',
  )

/** Registers the redirect to the external provider, its callback, and the page that links an existing account. */
export const externalSignInPages: FastifyPluginAsync<{ accounts: AccountService }> = async (app, { accounts }) => {
  const linkPage = ({ email }: WaitingLink): FormPage => ({
    view: 'account/external-link',
    data: { title: 'One more step', email, provider: accounts.externalProviderName ?? '' },
    labels: { password: 'password' },
  })

  const finishLinking = async (request: FastifyRequest, reply: FastifyReply, journey: PendingExternalSignIn) => {
    const { actor } = request
    if (actor === undefined || actor.userId !== journey.linkTo) throw notBegun()
    await accounts.finishLinking(actor, queryOf(request), journey)
    return redirectAfterForm(reply, journey.returnTo)
  }

  app.get('/sign-in/external', { config: ANYONE }, async (request, reply) => {
    const returnTo = parseReturnTo(Query.parse(request.query).return_to)
    if (request.signedInBy === 'session') return reply.redirect(returnTo, 303)
    const { url, secrets } = await accounts.beginExternalSignIn(request.ip)
    saveExternalSignIn(request, { ...secrets, returnTo })
    return reply.redirect(url, 303)
  })

  app.get(CALLBACK_PATH, { config: ANYONE }, async (request, reply) => {
    const journey = await takeExternalSignIn(request)
    if (journey === undefined) throw notBegun()
    if (journey.linkTo !== undefined) return finishLinking(request, reply, journey)
    const back = await accounts.finishExternalSignIn(queryOf(request), journey, visitorOf(request))
    if (back.kind === 'signed_in') return continueSignIn(request, reply, back.first, { returnTo: journey.returnTo })
    await saveWaitingLink(request, { ...back.person, returnTo: journey.returnTo })
    return reply.redirect('/sign-in/link', 303)
  })

  app.get('/sign-in/link', { config: STRANGERS }, async (request, reply) => {
    const waiting = findWaitingLink(request)
    return waiting === undefined ? reply.redirect('/sign-in', 303) : showForm(reply, linkPage(waiting))
  })

  app.post('/sign-in/link', { config: STRANGERS }, async (request, reply) => {
    const waiting = findWaitingLink(request)
    if (waiting === undefined) return reply.redirect('/sign-in', 303)
    const form = parseForm({ password: formText }, request.body)
    return submitForm(
      reply,
      () => linkPage(waiting),
      async () => {
        const { password } = parseInput(z.object({ password: ownPassword }), form)
        const first = await accounts.linkByPassword(waiting, password, request.ip)
        const { returnTo, identity } = waiting
        return continueSignIn(request, reply, first, { returnTo, identity })
      },
    )
  })
}
