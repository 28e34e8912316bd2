import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import {
  type FormPage,
  goOnSignedIn,
  showForm,
  type TypedForm,
  type TypedFormPages,
  writeTypedForm,
} from '../platform/http/index.ts'

/** Longest piece of a field that is shown; all of it is sent. */
const MAX_SHOWN_CHARACTERS = 400

const shorten = (text: string): string =>
  text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}…`

/** What a page puts into its form for itself: nobody typed it, and nobody could read it. */
const isOfPage = (name: string, value: string): boolean => name === 'version' || z.uuid().safeParse(value).success

/** `parameter:limit:maximum` as "parameter limit maximum", `expiresInDays` as "expires in days". */
const inWords = (name: string): string =>
  name
    .replaceAll(/[:_-]+/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)

/** The sign-in in the middle of something: it takes along what was typed. */
export const signInAgainPage = (typed: TypedForm, email = ''): FormPage => ({
  view: 'accounts/sign-in-again',
  data: { title: 'Sign in again', email, typed: writeTypedForm(typed) },
  labels: { email: 'address', password: 'password' },
})

/** Whoever is signed in now, and had typed it: one button sends it, and nothing else does. */
const offerAgain = (reply: FastifyReply, typed: TypedForm, status: number): FastifyReply => {
  const { path, fields, left } = typed
  return reply.page(
    'accounts/typed-form',
    {
      title: 'Save what you typed',
      path,
      fields: fields.map(([name, value]) => ({ name, value })),
      typed: fields
        .filter(([name, value]) => value.trim() !== '' && !isOfPage(name, value))
        .map(([name, value]) => ({ label: inWords(name), text: shorten(value) })),
      left: left.join(', '),
    },
    { status },
  )
}

/** After a sign-in that took a form along: only who typed it sees it again. */
export const offerTyped = async (reply: FastifyReply, typed: TypedForm, userId: string): Promise<FastifyReply> => {
  await goOnSignedIn(reply.request)
  if (typed.userId === userId) return offerAgain(reply, typed, 200)
  return reply.page(
    'accounts/done',
    {
      title: 'Signed in as somebody else',
      text: 'What was typed before belongs to another account. It has been dropped, and nothing was sent.',
      next: { href: '/', text: 'Go on' },
    },
    { status: 200 },
  )
}

/** For the scope of pages: what becomes of a form whose session is over. */
export const typedFormPages: TypedFormPages = {
  askToSignIn: (reply, typed) => showForm(reply.code(401), signInAgainPage(typed)),
  // Nothing was done: the form's token was of the session before.
  offerAgain: (reply, typed) => offerAgain(reply, typed, 403),
}
