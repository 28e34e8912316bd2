import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { MASK } from '../../lib/kernel/mask.ts'
import { isSuccess, type OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import { headerText } from '../../results/cache/freshness.ts'
import { decodeText } from '../../results/shape/shape.ts'
import type { RenderedRequest } from '../../templates/template.ts'
import { secretRuleOf } from '../../tools/secret-parameters.ts'
import type { CallPlan } from '../plan-call.ts'
import { findNextLink } from './link-header.ts'
import { MAX_CURSOR_CHARACTERS } from './read-cursor.ts'

/** A call whose response may be a page. `render` builds the request for other arguments, or returns undefined. */
type SentCall = {
  plan: Pick<CallPlan, 'resolution' | 'masker' | 'cursor'>
  args: JsonObject
  request: RenderedRequest
  render: (args: JsonObject) => RenderedRequest | undefined
}

/** Maximum number of parameters in the query of a next page, because each is compared with those of the tool. */
const MAX_NAMES = 100
/** Maximum number and length of the parts of a URL that a line shows. */
const MAX_PAIRS = 5
const MAX_SHOWN_CHARACTERS = 500

/** `isPossible` is whether this tool can ask for the page. */
type Told = { line: string; isPossible: boolean }

const possible = (line: string): Told => ({ line, isPossible: true })
const impossible = (why: string): Told => ({
  line: `There is a next page, but this tool cannot ask for it: ${why}`,
  isPossible: false,
})

const cut = (text: string): string =>
  text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}…` : text

const listNames = (names: readonly string[]): string => names.map(name => JSON.stringify(name)).join(' and ')

/** Tells which arguments get the next page. `without` are arguments of the last call that must be left out. */
const tellArguments = ({ args }: SentCall, values: JsonObject, without: readonly string[] = []): string => {
  const json = JSON.stringify(values)
  const others = Object.keys(args).filter(name => !Object.hasOwn(values, name) && !without.includes(name))
  const left = without.length === 0 ? '' : `, without ${listNames(without)}`
  return `Next page: call again with ${others.length === 0 ? '' : 'the same arguments and '}${json}${left}.`
}

const isSecret = ({ plan: { masker } }: SentCall, name: string, value: string): boolean =>
  masker.text(value) !== value || secretRuleOf({ place: 'query', name, value: undefined }) === 'kept'

const showPair = (call: SentCall, name: string, value: string): string => {
  const shown = isSecret(call, name, value) ? MASK : value
  return cut(
    call.plan.masker.text(new URLSearchParams([[name, shown]]).toString().replaceAll(encodeURIComponent(MASK), MASK)),
  )
}

/** Returns a URL without its credentials, fragment and secrets. */
const showUrl = (call: SentCall, { origin, pathname, searchParams }: URL): string => {
  const pairs = [...searchParams].map(([name, value]) => showPair(call, name, value))
  return cut(`${call.plan.masker.text(`${origin}${pathname}`)}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`)
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((value, index) => value === other[index])

/** Returns the argument with which a query has this value, and its name. Undefined if there is none. */
const findArgument = (call: SentCall, name: string, values: readonly string[]): [string, JsonValue] | undefined => {
  const [value, ...more] = values
  if (value === undefined || more.length > 0 || value.length > MAX_CURSOR_CHARACTERS) return undefined
  if (isSecret(call, name, value)) return undefined
  for (const [parameter, { parameter: declared, check }] of call.plan.resolution.exposed) {
    if (!declared.places.some(place => place.kind === 'query' && place.name === name)) continue
    const checked = check(value, 'text')
    const rendered = checked.ok ? call.render({ ...call.args, [parameter]: checked.value }) : undefined
    // The parameter may be only a part of the value, or be encoded in another way.
    const sent = rendered && URL.parse(rendered.url)?.searchParams.getAll(name)
    if (checked.ok && sent && isSame(sent, values)) return [parameter, checked.value]
  }
  return undefined
}

/** Returns the arguments of the last call that only fill a part of the query that the next one does not have. */
const listDropped = ({ plan, args }: SentCall, names: ReadonlySet<string>): string[] =>
  Object.keys(args).filter(name => {
    const places = plan.resolution.exposed.get(name)?.parameter.places
    const isGiven = places !== undefined && args[name] !== null
    return isGiven && places.every(place => place.kind === 'query' && names.has(place.name ?? ''))
  })

/**
 * Tells how to get the page at this URL. Only its query counts: the address may be another name of the same resource, or
 * the name of a server behind a proxy. Undefined if it is the same page.
 */
const tellLink = (call: SentCall, next: URL): Told | undefined => {
  const sent = new URL(call.request.url)
  const names = [...new Set(next.searchParams.keys())]
  if (names.length > MAX_NAMES) return undefined
  const changed = names.filter(name => !isSame(next.searchParams.getAll(name), sent.searchParams.getAll(name)))
  const dropped = new Set([...sent.searchParams.keys()].filter(name => !next.searchParams.has(name)))
  const without = listDropped(call, dropped)
  if (changed.length === 0 && without.length === 0 && next.pathname === sent.pathname) return undefined
  const found = changed.map(name => ({ name, argument: findArgument(call, name, next.searchParams.getAll(name)) }))
  const values = Object.fromEntries(found.flatMap(({ argument }) => (argument === undefined ? [] : [argument])))
  const lacking = found.filter(({ argument }) => argument === undefined).map(({ name }) => name)
  if (Object.keys(values).length === 0) return impossible(showUrl(call, next))
  const pairs = lacking.flatMap(name => next.searchParams.getAll(name).map(value => showPair(call, name, value)))
  const rest =
    pairs.length === 0
      ? ''
      : ` The API also asks for ${pairs.slice(0, MAX_PAIRS).join(' and ')}, which this tool cannot send.`
  return possible(`${tellArguments(call, values, without)}${rest}`)
}

/** Matches a URL without a host, such as `/items?page=2`. No cursor has a query. */
const RELATIVE_URL = /^(?![a-z][a-z0-9+.-]*:)[^\s?#]*\?[^\s?#]+=/i

const findUrl = (text: string | number, base?: string): URL | undefined => {
  const url = typeof text === 'string' ? URL.parse(text, base) : null
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined
}

/** Tells how to get the page of a cursor. Undefined if it is the same page. */
const tellCursor = (call: SentCall, name: string, cursor: string | number): Told | undefined => {
  const { plan, args } = call
  const taken = plan.resolution.exposed.get(name)
  if (taken === undefined) return impossible(`${JSON.stringify(name)} is not one of its arguments.`)
  if (plan.masker.text(String(cursor)) !== String(cursor)) return impossible('its cursor contains a secret.')
  const checked = taken.check(cursor)
  if (!checked.ok) {
    const { expected, got } = checked.error
    return impossible(`${JSON.stringify(name)} must be ${expected}, and the cursor is ${got}.`)
  }
  const last = Object.hasOwn(args, name) ? args[name] : undefined
  return String(last) === String(cursor) ? undefined : possible(tellArguments(call, { [name]: checked.value }))
}

/**
 * Returns a line that tells the model how to get the next page of results. The response says so by the cursor that the
 * tool declares, or in its `Link` header (RFC 8288). Never contains a secret. Undefined if there is no next page.
 */
export const findNextPage = async (call: SentCall, response: OutboundResponse): Promise<string | undefined> => {
  if (!isSuccess(response)) return undefined
  const { cursor } = call.plan
  const read = cursor && decodeText(response)
  const next = read && (await cursor.read(read.text))
  if (cursor !== undefined && next !== undefined) {
    if (typeof next === 'string' && RELATIVE_URL.test(next)) {
      const page = findUrl(next, response.url)
      return page && tellLink(call, page)?.line
    }
    // Some APIs return the URL of the next page, whose query has the cursor.
    const url = findUrl(next)
    const told = url && tellLink(call, url)
    return (told?.isPossible === true ? told : tellCursor(call, cursor.parameter, next))?.line
  }
  const link = headerText(response.headers, 'link')
  const target = link && findNextLink(link)
  const url = target && findUrl(target, response.url)
  return url ? tellLink(call, url)?.line : undefined
}
