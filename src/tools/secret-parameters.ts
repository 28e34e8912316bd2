import { splitNames } from '../lib/search/split-words.ts'
import { secretKeyOf } from '../templates/check-value.ts'
import type { CheckedParameter } from '../templates/compile-parameters.ts'
import { acceptedTypes } from '../templates/lists/serialize.ts'
import type { Place } from '../templates/template.ts'
import { AUTHENTICATION_SCHEME, hasSecretFormat, looksSecret } from './secret-looks.ts'

/**
 * What a parameter is by default. `kept`: a secret. `offered`: from the model, unless the builder makes it a secret.
 * `none`: from the model.
 */
export type SecretRule = 'kept' | 'offered' | 'none'

export type NamedParameter = {
  /** Where the parameter is in the request. `cookie` is one of the cookies in the Cookie header. */
  place: 'header' | 'query' | 'body' | 'path' | 'cookie'
  /** Name of the header, query parameter, body member or cookie. In the path, the parameter's own name. */
  name: string
  /** The parameter's own name, if it may differ: in `?q={{api_key}}` the name is `q` and the alias `api_key`. */
  alias?: string | undefined
  /** A value that the parameter has, such as a default. */
  value?: string | undefined
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Names of credentials in a query or body, in lower case and without separators. A path names other things. */
const CREDENTIALS = setOf('apikey accesstoken clientsecret secret password')

/** A name with one of these words may be that of a secret. */
const SECRET_WORDS = setOf('token key secret')

/** Words that say that a following token or key is a position or an identifier, such as `page` of `page_token`. */
const POSITIONS =
  'page pages paging pagination next cursor sync continuation idempotency idempotence idempotent sort partition primary'
const POSITION_WORDS = setOf(POSITIONS)

/** Other words that say that a value is as random as a secret without being one. */
const RANDOM_WORDS = setOf('id ids uuid guid sha hash digest checksum etag md commit')

/** Matches the last word of the name of a header that authenticates, also at its end: `x-trackertoken`, `x-mbx-apikey`. */
const AUTHENTICATION =
  /(?:auth|authorization|authentication|token|secret|password|passphrase|credentials?|cookie|jwt|(?:^|api|app|access|auth)key)$/

/** Matches the word before it if such a header does not authenticate: `X-CSRF-Token`, `X-CSRFToken`, `Surrogate-Key`. */
const OTHER_PURPOSE = /(?:csrf|xsrf|websocket|request|cache|surrogate|lock|public)$/
const POSITION_END = new RegExp(`(?:${POSITIONS.replaceAll(' ', '|')})$`)

/** Names are not longer. */
const MAX_NAME_CHARS = 200

const isRandomWord = (word: string): boolean => RANDOM_WORDS.has(word) || POSITION_WORDS.has(word)

const isSecretWord = (word: string): boolean => SECRET_WORDS.has(word)

/** Returns whether one of POSITIONS comes before any token, key or secret. */
const isPosition = (words: readonly string[]): boolean =>
  POSITION_WORDS.has(words.find(word => isSecretWord(word) || POSITION_WORDS.has(word)) ?? '')

/** Returns whether a header authenticates the request. Ignores case, as HTTP does, except to find positions. */
const isAuthentication = (header: string): boolean => {
  const words = header.toLowerCase().split(/[^a-z0-9]+/)
  const last = words.pop() ?? ''
  const end = AUTHENTICATION.exec(last)
  if (end === null) return false
  const joined = last.slice(0, end.index)
  if (OTHER_PURPOSE.test(joined === '' ? (words.at(-1) ?? '') : joined)) return false
  if (!/(?:token|key|secret)$/.test(last)) return true
  return !POSITION_END.test(joined) && !words.some(word => POSITION_WORDS.has(word)) && !isPosition(splitNames(header))
}

const isListed = (name: string): boolean => CREDENTIALS.has(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))

/** Returns whether a name is one of CREDENTIALS in any spelling, or ends in one: `user[password]`, `user.password`. */
const isCredential = (name: string): boolean => {
  const member = /\[([^[\]]+)\]$/.exec(name)?.[1]
  if (member !== undefined) return isListed(member)
  return isListed(name) || (isListed(name.slice(name.lastIndexOf('.') + 1)) && !isPosition(splitNames(name)))
}

const isKeptByName = ({ place, name, alias }: NamedParameter): boolean => {
  switch (place) {
    case 'cookie':
      return true
    case 'header':
      return isAuthentication(name) || (alias !== undefined && isCredential(alias))
    case 'query':
    case 'body':
      return isCredential(name) || (alias !== undefined && isCredential(alias))
    case 'path':
      return false
  }
}

const isKeptByValue = ({ place, value }: NamedParameter, words: readonly string[]): boolean => {
  if (value === undefined) return false
  const credential = value.replace(AUTHENTICATION_SCHEME, '')
  if (place === 'header' && credential !== value) return true
  const mayBeRandom = place === 'path' || words.some(isRandomWord)
  return mayBeRandom ? hasSecretFormat(credential) : looksSecret(credential)
}

/**
 * Returns whether a parameter is a secret by default. The only list of such parameters. It is kept as a secret
 *
 * - in the Cookie header, and in a header that authenticates: its last word is `token`, `key`, `authorization` or
 *   similar, and no word before it says otherwise
 * - outside of the path if its name or alias is one of CREDENTIALS, whatever the case and the separators
 * - if its value looks like a secret. A value that is merely random does not count in the path, nor if a name says that
 *   it is an id, a digest or a position, as in `cursor`
 *
 * Otherwise it is offered as a secret if one of its names has the word token, key or secret, and none says that it is a
 * position. If the first such word of a name comes after one of POSITIONS, as in `nextPageToken`, its value does not
 * count either. Takes linear time.
 */
export const secretRuleOf = (named: NamedParameter): SecretRule => {
  const name = named.name.slice(0, MAX_NAME_CHARS)
  const alias = named.alias?.slice(0, MAX_NAME_CHARS)
  const parameter = { ...named, name, alias }
  if (isKeptByName(parameter)) return 'kept'
  const names = alias === undefined || alias === name ? [name] : [name, alias]
  const words = names.map(splitNames)
  const positions = words.filter(isPosition)
  if (positions.some(each => each.some(isSecretWord))) return 'none'
  if (isKeptByValue(parameter, words.flat())) return 'kept'
  if (positions.length > 0) return 'none'
  return names.some(isCredential) || words.flat().some(isSecretWord) ? 'offered' : 'none'
}

/** Judges an argument that no parameter describes, or a member of one, by its name and value. */
export const isSecretArgument = (name: string, value: string | undefined): boolean =>
  secretRuleOf({ place: 'body', name, value }) === 'kept'

const PLACES: Readonly<Record<Place['kind'], NamedParameter['place']>> = {
  base: 'path',
  host: 'path',
  path: 'path',
  query: 'query',
  header: 'header',
  cookie: 'cookie',
  json: 'body',
  'json-string': 'body',
  form: 'body',
  xml: 'body',
  'xml-document': 'body',
  multipart: 'body',
  text: 'body',
}

/**
 * Returns whether a parameter of a tool is a secret by default: if its default binding says so, or else by the strictest
 * rule of all its places, judging by its default and its example. Without such a binding, a boolean is not a secret, and
 * neither is one of several values that the tool lists, nor an array or object with a serialization, to which no secret
 * can be bound.
 */
export const secretRuleOfParameter = ({
  parameter,
  meta,
}: Pick<CheckedParameter, 'parameter' | 'meta'>): SecretRule => {
  const { name: alias, type, places } = parameter
  if (secretKeyOf(meta.binding) !== undefined) return 'kept'
  if (type === 'boolean' || meta.enum !== undefined || acceptedTypes(places) !== undefined) return 'none'
  const values = [parameter.default, meta.example].map(value => (typeof value === 'string' ? value : undefined))
  const rules = places.flatMap(({ kind, name = alias }) =>
    values.map(value => secretRuleOf({ place: PLACES[kind], name, alias, value })),
  )
  return rules.find(rule => rule === 'kept') ?? rules.find(rule => rule === 'offered') ?? 'none'
}
