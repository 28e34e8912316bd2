import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isSafeMethod } from '../access.ts'
import { parseReturnTo } from './return-to.ts'

/** A form that could not be taken because nobody was signed in any more, as it goes with its user through the sign-in. */
export type TypedForm = {
  /** Where it was sent to: a path of ours with its query. */
  path: string
  /** Whose page the form stood on. */
  userId: string
  fields: readonly (readonly [name: string, value: string])[]
  /** Names of fields that do not go along: passwords, and what the form says is secret. */
  left: readonly string[]
}

/** Longest form that goes along, as a browser encodes it to send it on: with the sign-in's own fields it fits a form. */
const MAX_TYPED_BYTES = 200 * 1_024
/** More fields than the largest of our forms has. */
const MAX_FIELDS = 2_000

/**
 * What a form says of itself, in hidden fields: its token, whose it is (`_user`), the name of a field that is secret
 * (`_secret`), or is where a box is ticked (`_secret:` and the name of the box).
 */
const isAboutForm = (name: string): boolean => name.startsWith('_')
const SECRET_WITH = '_secret:'
/** Whatever a form says. */
const isAlwaysSecret = (name: string): boolean => /password/i.test(name)

/** What the form says of itself, and passwords, stay behind, whoever wrote the text. */
const Fields = z
  .array(z.tuple([z.string(), z.string()]))
  .max(MAX_FIELDS)
  .transform(fields => fields.filter(([name]) => !isAboutForm(name) && !isAlwaysSecret(name)))
const Typed = z.object({
  path: z.string().refine(path => path !== '/' && parseReturnTo(path) === path),
  userId: z.uuid(),
  fields: Fields,
  left: z.array(z.string()).max(MAX_FIELDS),
})

const Body = z.record(z.string(), z.union([z.string(), z.array(z.string())]))
const textsOf = (value: string | readonly string[] | undefined): readonly string[] => [value ?? []].flat()

const secretsOf = (body: z.infer<typeof Body>): ReadonlySet<string> => {
  const ticked = Object.keys(body).filter(
    name => name.startsWith(SECRET_WITH) && body[name.slice(SECRET_WITH.length)] !== undefined,
  )
  return new Set(['_secret', ...ticked].flatMap(name => textsOf(body[name])))
}

/** Only a browser that says that a page of ours sent the form: an Origin that is not ours was refused before. */
const isFromOurPage = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin'

/** The form that a request has sent, if it is one to be carried along. Its body must have been read. */
export const takeTypedForm = (request: FastifyRequest): TypedForm | 'too_long' | undefined => {
  if (isSafeMethod(request.method) || !isFromOurPage(request)) return undefined
  const body = Body.safeParse(request.body).data
  if (body === undefined) return undefined
  const said = secretsOf(body)
  const names = Object.keys(body).filter(name => !isAboutForm(name))
  const isSecret = (name: string): boolean => said.has(name) || isAlwaysSecret(name)
  const typed = Typed.safeParse({
    path: request.url,
    userId: textsOf(body._user)[0],
    fields: names.filter(name => !isSecret(name)).flatMap(name => textsOf(body[name]).map(text => [name, text])),
    left: names.filter(isSecret),
  })
  if (!typed.success) return undefined
  return encodeURIComponent(writeTypedForm(typed.data)).length > MAX_TYPED_BYTES ? 'too_long' : typed.data
}

/** As text, for a hidden field. */
export const writeTypedForm = (typed: TypedForm): string => JSON.stringify(typed)

/** Of that text; undefined for one that is empty, too long, or not ours. Nothing in it is to be believed. */
export const readTypedForm = (text: string): TypedForm | undefined => {
  if (text === '' || text.length > MAX_TYPED_BYTES) return undefined
  try {
    return Typed.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
