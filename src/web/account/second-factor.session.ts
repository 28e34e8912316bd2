import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExternalIdentity } from '../../identity/external/external-provider.ts'
import type { SecondStep } from '../../identity/second-factor/second-factor.service.ts'
import type { FirstStep } from '../../identity/sign-in/sign-in.ts'
import { type FormPage, showForm } from '../../lib/http/pages/forms.ts'
import { type TypedForm, writeTypedForm } from '../../lib/http/pages/typed-form.ts'
import { beginSession } from '../../lib/http/sessions.ts'
import { redirectAfterForm } from './redirect-after-form.ts'
import { offerTyped } from './typed-form.pages.ts'

/** Time limit for entering the code, in milliseconds. Leaves enough time to get the phone. */
const SECOND_STEP_MS = 5 * 60 * 1_000

/** What to do after a sign-in. */
export type AfterSignIn = {
  returnTo: string
  /** The external identity to link to the user after the sign-in. */
  identity?: ExternalIdentity
}

/** Data stored in the anonymous session while a sign-in is waiting for its code. */
export type WaitingSignIn = SecondStep &
  AfterSignIn & {
    /** Milliseconds since 1970. */
    endsAt: number
  }

declare module 'fastify' {
  interface Session {
    waitingSignIn?: WaitingSignIn
  }
}

/** Returns the sign-in that is waiting for a code in this browser, unless it has expired. */
export const findWaitingSignIn = ({ session, server }: FastifyRequest): WaitingSignIn | undefined => {
  const { waitingSignIn } = session
  return waitingSignIn === undefined || waitingSignIn.endsAt <= server.sessionOptions.now() ? undefined : waitingSignIn
}

/** Builds the page that asks for the second-factor code. */
export const codePage = (typed: TypedForm | undefined): FormPage => ({
  view: 'account/second-factor-code',
  data: { title: 'Enter your code', typed: typed && writeTypedForm(typed) },
  labels: { code: 'code' },
})

/** Stores the sign-in in a session with a new ID until the user enters the code. */
const waitForCode = async (request: FastifyRequest, secondStep: SecondStep, onward: AfterSignIn): Promise<void> => {
  const endsAt = request.server.sessionOptions.now() + SECOND_STEP_MS
  await request.session.regenerate()
  request.session.waitingSignIn = { ...secondStep, ...onward, endsAt }
  request.session.endsAt = endsAt
}

/**
 * Completes the first step of a sign-in: starts the session and redirects, or asks for the second-factor code. In both
 * cases the session gets a new ID, which prevents session fixation. A pending form (`typed`) is carried in hidden form
 * fields instead of being stored on the server.
 */
export const continueSignIn = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { user, secondStep }: FirstStep,
  onward: AfterSignIn,
  typed?: TypedForm,
): Promise<FastifyReply> => {
  if (secondStep === undefined) {
    await beginSession(request, reply, user.id)
    return typed === undefined ? redirectAfterForm(reply, onward.returnTo) : offerTyped(reply, typed, user.id)
  }
  await waitForCode(request, secondStep, onward)
  return typed === undefined ? reply.redirect('/sign-in/code', 303) : showForm(reply.code(200), codePage(typed))
}
