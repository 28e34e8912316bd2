import { randomBytes } from 'node:crypto'
import { type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import { parseHttpUrl, writtenHost } from '../../templates/base-url.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import { acceptedTypes } from '../../templates/lists/serialize.ts'
import type { Binding } from '../server.ts'
import { fillText, globalKeysOf } from './bindings.ts'

const ALONE = /^\s*\{\{[^{}]*\}\}\s*$/

/** Places that accept a value only if its text has a certain form. */
const CHECKED_PLACES: ReadonlySet<string> = new Set(['host', 'xml-document'])

const LIST_REFUSAL =
  'contains a secret, which cannot be a part of a list: it may be split, and then not be masked. Give the secret a placeholder of its own'

/** Returns whether a binding that reads globals contains other text, too. */
export const isMixed = (binding: Binding): binding is Extract<Binding, { source: 'instance' }> =>
  binding.source === 'instance' && !(typeof binding.value === 'string' && ALONE.test(binding.value))

export const NOT_A_URL =
  'must be a URL such as https://api.example.com/{{key}}: a secret can be in the path or the query, or be whole labels of the host'

/**
 * Returns why a binding must not contain a secret, or undefined if it may. A builder who chooses the text around a secret
 * could learn about the secret: `0.{{pin}}e3` turns it into another number, and `[{{pin}}` may be valid JSON or not. A URL
 * that also contains globals that are not secret is checked only once their values are known, by `fillUrl`.
 */
export const refuseMixedSecret = (
  { parameter: { name, type, places } }: CheckedParameter,
  binding: Binding,
  isSecret: (key: string) => boolean,
): string | undefined => {
  if (acceptedTypes(places) !== undefined) return LIST_REFUSAL
  if (!isMixed(binding)) return undefined
  const { value } = binding
  if (places.some(({ kind, serialization }) => CHECKED_PLACES.has(kind) || serialization === 'segments')) {
    return 'contains a secret and other text. In a host, in segments of the path, or as the whole XML body, use the secret alone'
  }
  if (type === 'string') return undefined
  if (type === 'url') {
    const isKnown = [...globalKeysOf(name, binding)].every(isSecret)
    return isKnown && fillUrl(value, () => ({ value: 'x', isSecret: true })) === undefined ? NOT_A_URL : undefined
  }
  if (type !== 'json') return `contains a secret and other text. In a parameter of type ${type}, use the secret alone`
  const isJson = typeof value !== 'string' || parseJson(value, MAX_JSON_DEPTH).ok
  return isJson ? undefined : 'contains a secret and other text. In JSON, use the secret alone or inside a string'
}

/** Percent-encodes a secret for a path or query. Slashes stay, so that it may consist of several segments. */
const inPath = (secret: string): string =>
  encodeURIComponent(secret.toWellFormed()).replaceAll('%2F', '/').replaceAll("'", '%27')

const COVER = /q[0-9a-f]{24}q/g
/** An incomplete escape before a secret, which would change the secret's first characters. */
const OPEN_ESCAPE = /%[0-9a-f]?q[0-9a-f]{24}q/i

/**
 * Fills a fixed URL with its globals. A secret must be one or more whole labels of the host, or be in the path or query,
 * where it is percent-encoded. So it neither changes the rest of the URL nor is changed itself. Returns undefined for any
 * other URL. The text around a secret is parsed without it, so that what is accepted reveals nothing about the secret.
 */
export const fillUrl = (
  text: JsonValue,
  readGlobal: (key: string) => { value: string; isSecret: boolean },
): string | undefined => {
  if (typeof text !== 'string') return undefined
  const secrets = new Map<string, string>()
  const covered = fillText(text, key => {
    const { value, isSecret } = readGlobal(key)
    if (!isSecret) return value
    const cover = `q${randomBytes(12).toString('hex')}q`
    secrets.set(cover, value)
    return cover
  })
  const covers = [...secrets.keys()]
  const url = OPEN_ESCAPE.test(covered) ? undefined : parseHttpUrl(covered)
  if (url === undefined || !covers.every(cover => url.href.includes(cover))) return undefined
  const labels = url.hostname.split('.').map(label => {
    const secret = secrets.get(label)
    return secret === undefined ? label : writtenHost(secret)
  })
  if (labels.includes(undefined)) return undefined
  const rest = (url.pathname + url.search + url.hash).replace(COVER, cover => inPath(secrets.get(cover) ?? cover))
  const filled = `${url.protocol}//${labels.join('.')}${url.port && `:${url.port}`}${rest}`
  const isComplete = !covers.some(cover => filled.includes(cover))
  return isComplete && URL.parse(filled)?.href === filled ? filled : undefined
}
