import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { goOnSignedIn } from '../../lib/http/access.ts'
import { type FormPage, showForm } from '../../lib/http/pages/forms.ts'
import type { TypedFormPages } from '../../lib/http/pages/pages.ts'
import { type TypedForm, writeTypedForm } from '../../lib/http/pages/typed-form.ts'
import { shorten } from '../../lib/kernel/format.ts'

/** Maximum characters shown per field. The form still submits the whole value. */
const MAX_SHOWN_CHARACTERS = 400

/** Returns whether the page itself set this value. Such a value is a version or an ID and means nothing to the user. */
const isOfPage = (name: string, value: string): boolean => name === 'version' || z.uuid().safeParse(value).success

/** Turns `parameter:limit:maximum` into "parameter limit maximum", and `expiresInDays` into "expires in days". */
const inWords = (name: string): string =>
  name
    .replaceAll(/[:_-]+/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)

/** Builds the sign-in page that is shown when a session ends during an edit. The page carries the user's entries. */
export const signInAgainPage = (typed: TypedForm, email = ''): FormPage => ({
  view: 'account/sign-in-again',
  data: { title: 'Sign in again', email, typed: writeTypedForm(typed) },
  labels: { email: 'email', password: 'password' },
})

/** Shows the pending form to the user who filled it in. The form is submitted only when the user presses its button. */
const offerAgain = (reply: FastifyReply, typed: TypedForm, status: number): FastifyReply => {
  const { path, fields, left } = typed
  return reply.page(
    'account/typed-form',
    {
      title: 'Submit your entries',
      path,
      fields: fields.map(([name, value]) => ({ name, value })),
      typed: fields
        .filter(([name, value]) => value.trim() !== '' && !isOfPage(name, value))
        .map(([name, value]) => ({ label: inWords(name), text: shorten(value, MAX_SHOWN_CHARACTERS) })),
      left: left.join(', '),
    },
    { status },
  )
}

/** Offers the pending form after a sign-in, but only to the user who filled it in. */
export const offerTyped = async (reply: FastifyReply, typed: TypedForm, userId: string): Promise<FastifyReply> => {
  await goOnSignedIn(reply.request)
  if (typed.userId === userId) return offerAgain(reply, typed, 200)
  const title = 'Signed in as another user'
  const text = 'The pending changes belong to another account. They have been discarded, and nothing was saved.'
  return reply.page('account/done', { title, text, next: { href: '/', text: 'Continue' } }, { status: 200 })
}

/** Handlers for forms submitted after their session has ended. */
export const typedFormPages: TypedFormPages = {
  askToSignIn: (reply, typed) => showForm(reply.code(401), signInAgainPage(typed)),
  // The form was rejected, because its CSRF token belongs to the previous session.
  offerAgain: (reply, typed) => offerAgain(reply, typed, 403),
}
