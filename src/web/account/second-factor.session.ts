import type { FastifyReply, FastifyRequest } from 'fastify'
import { beginSession, type FormPage, showForm, type TypedForm, writeTypedForm } from '../platform/http/index.ts'
import type { ExternalIdentity } from './external-provider.ts'
import { goOn } from './go-on.ts'
import type { SecondStep } from './second-factor.service.ts'
import type { FirstStep } from './sign-in.ts'
import { offerTyped } from './typed-form.pages.ts'

/** How long a sign-in waits for its code: enough to find the phone. */
const SECOND_STEP_MS = 5 * 60 * 1_000

/** What follows a sign-in. */
export type Onward = {
  returnTo: string
  /** Who the user is at the external provider, where the sign-in is to link them. */
  identity?: ExternalIdentity
}

/** What a session of nobody yet keeps while a sign-in waits for its code. */
export type WaitingSignIn = SecondStep &
  Onward & {
    /** Milliseconds since 1970. */
    endsAt: number
  }

declare module 'fastify' {
  interface Session {
    waitingSignIn?: WaitingSignIn
  }
}

/** The sign-in of this browser that waits for its code, if there is one and its time is not over. */
export const findWaitingSignIn = ({ session, server }: FastifyRequest): WaitingSignIn | undefined => {
  const { waitingSignIn } = session
  return waitingSignIn === undefined || waitingSignIn.endsAt <= server.sessionOptions.now() ? undefined : waitingSignIn
}

/** Where the code of the second factor is asked for. */
export const codePage = (typed: TypedForm | undefined): FormPage => ({
  view: 'accounts/second-factor-code',
  data: { title: 'Second step', typed: typed && writeTypedForm(typed) },
  labels: { code: 'code' },
})

/** Keeps a sign-in until its code comes, on a session of a new id. */
const waitForCode = async (request: FastifyRequest, secondStep: SecondStep, onward: Onward): Promise<void> => {
  const endsAt = request.server.sessionOptions.now() + SECOND_STEP_MS
  await request.session.regenerate()
  request.session.waitingSignIn = { ...secondStep, ...onward, endsAt }
  request.session.endsAt = endsAt
}

/**
 * After the first step: begins the session and leads on, or asks for the code. Either way on a session of a new id, so
 * that whoever planted the one before shares in nothing. A form that is taken along stays in the pages, between here
 * and the browser.
 */
export const leadOn = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { user, secondStep }: FirstStep,
  onward: Onward,
  typed?: TypedForm,
): Promise<FastifyReply> => {
  if (secondStep === undefined) {
    await beginSession(request, reply, user.id)
    return typed === undefined ? goOn(reply, onward.returnTo) : offerTyped(reply, typed, user.id)
  }
  await waitForCode(request, secondStep, onward)
  return typed === undefined ? reply.redirect('/sign-in/code', 303) : showForm(reply.code(200), codePage(typed))
}
