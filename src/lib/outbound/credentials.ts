import { randomBytes } from 'node:crypto'

/** A value in a request that may be sent only to certain origins. */
export type Credential = {
  /** Shown in errors, so it must not be secret itself. */
  name: string
  /** Origins, or patterns such as `https://*.example.com`, in which `*` is a whole label of the host. */
  origins: readonly string[]
}

const LABEL = '[^./:@]+'

const toPattern = (origin: string): RegExp =>
  new RegExp(`^${origin.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', LABEL)}$`)

/** Returns whether the origin is among these origins and patterns. */
export const isAmongOrigins = (origins: readonly string[], origin: string): boolean =>
  origins.some(one => one === origin || (one.includes('*') && toPattern(one).test(origin)))

/** Returns the error for a credential that may not be sent to a place, which is an origin or a description. */
export const explainRefusal = (name: string, place: string): string =>
  `${name} may not be sent to ${place}; an admin can allow it on the server's Globals tab`

/** Names the target of a redirect whose origin cannot be shown. */
export const REDIRECTED_ORIGIN = 'the origin that it is redirected to'

/**
 * Returns why a request with these credentials must not be sent to the origin, or undefined if it may. Every request
 * that contains a credential is checked here when it leaves, and again for the target of each redirect. `describe`
 * returns the origin as the error shows it.
 */
export const refuseCredentials = (
  credentials: readonly Credential[],
  origin: string,
  describe = () => origin,
): string | undefined => {
  const refused = credentials.find(({ origins }) => !isAmongOrigins(origins, origin))
  return refused && explainRefusal(refused.name, describe())
}

/** Replaces a wildcard for the URL parser. Random, so that no host has this label. */
const WILDCARD_LABEL = `any${randomBytes(12).toString('hex')}`
/** A `*` in place of a whole label of the host. */
const WILDCARD = /(?<=[/.])\*(?=[.:]|$)/g
/** A pattern with one `*`, in which the last two labels of the host are spelled out. */
const NARROW = /^https?:\/\/(?:[^*]+\.)?\*\.[^.*:]+\.[^*]+$/

/** Returns whether people may choose the pattern. Bindings can set wider ones, such as `https://*.internal`. */
export const isNarrowPattern = (pattern: string): boolean => !pattern.includes('*') || NARROW.test(pattern)

/**
 * Returns an origin or pattern as browsers write it, without a trailing slash. Returns undefined if the text is neither.
 */
export const parseOriginPattern = (text: string): string | undefined => {
  const trimmed = text.trim().replace(/\/$/, '')
  const url = URL.parse(trimmed.replace(WILDCARD, WILDCARD_LABEL))
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  if (url.username !== '' || url.password !== '' || url.href !== `${url.origin}/`) return undefined
  return url.origin.includes('*') ? undefined : url.origin.replaceAll(WILDCARD_LABEL, '*')
}
