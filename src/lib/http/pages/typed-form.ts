import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isCurlCommand } from '../../kernel/curl-command.ts'
import { isSafeMethod } from '../access.ts'
import { parseReturnTo } from './return-to.ts'

/** A form that was rejected because the session had ended. It is preserved while the user signs in again. */
export type TypedForm = {
  /** The path and query that the form was sent to. */
  path: string
  /** The user who was shown the form. */
  userId: string
  fields: readonly (readonly [name: string, value: string])[]
  /** Names of fields that are not preserved: passwords, cURL commands and fields that the form declares secret. */
  left: readonly string[]
}

/** Maximum size of a preserved form, URL-encoded. It must fit into one form together with the sign-in fields. */
const MAX_TYPED_BYTES = 200 * 1_024
/** Maximum number of preserved fields, more than any of our forms has. */
const MAX_FIELDS = 2_000

/**
 * Returns whether a field is a hidden field that describes the form: `_csrf` is the CSRF token, `_user` is the user id,
 * and `_secret` is the name of a secret field. `_secret:<checkbox>` is the name of a field that is secret if the
 * checkbox is checked. For example, `_secret:secret` has the value `value` in the form of a global.
 */
const isAboutForm = (name: string): boolean => name.startsWith('_')
const SECRET_WITH = '_secret:'
/** Passwords are secret even if the form does not declare them secret. */
const isAlwaysSecret = (name: string): boolean => /password/i.test(name)

/**
 * Removes passwords and the fields that describe the form. Also filters a form that was preserved in the browser, where
 * it may have been changed.
 */
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

/** Returns whether one of our pages sent the request. Requests from other origins have already been rejected. */
const isFromOurPage = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin'

/** Returns the submitted form if it can be preserved. Requires a parsed body. */
export const takeTypedForm = (request: FastifyRequest): TypedForm | 'too_long' | undefined => {
  if (isSafeMethod(request.method) || !isFromOurPage(request)) return undefined
  const body = Body.safeParse(request.body).data
  if (body === undefined) return undefined
  const declared = secretsOf(body)
  const names = Object.keys(body).filter(name => !isAboutForm(name))
  const isSecret = (name: string): boolean =>
    declared.has(name) || isAlwaysSecret(name) || textsOf(body[name]).some(isCurlCommand)
  const typed = Typed.safeParse({
    path: request.url,
    userId: textsOf(body._user)[0],
    fields: names.filter(name => !isSecret(name)).flatMap(name => textsOf(body[name]).map(text => [name, text])),
    left: names.filter(isSecret),
  })
  if (!typed.success) return undefined
  return encodeURIComponent(writeTypedForm(typed.data)).length > MAX_TYPED_BYTES ? 'too_long' : typed.data
}

/** Serializes the form for a hidden field. */
export const writeTypedForm = (typed: TypedForm): string => JSON.stringify(typed)

/**
 * Parses the text of the hidden field. Returns undefined if it is empty, too long or malformed. The result is
 * untrusted.
 */
export const readTypedForm = (text: string): TypedForm | undefined => {
  if (text === '' || text.length > MAX_TYPED_BYTES) return undefined
  try {
    return Typed.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
