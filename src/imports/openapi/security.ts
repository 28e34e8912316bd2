import { shorten } from '../../lib/kernel/format.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { claimKey, globalKeyOf } from './names.ts'
import { objectEntries, toList, toObject, toText } from './nodes.ts'
import type { Description } from './open-description.ts'
import { plainText } from './texts.ts'

/** Of schemes. Each operation repeats the names of those that its tool cannot use. */
const MAX_NAME_CHARS = 200
const MAX_TEXT_CHARS = 300

/**
 * A secret that the tools need. `asks` says what the user enters: the value of `basic` is `user:password` in Base64
 * (RFC 7617), the others are sent as they are. `oauth` is a bearer token (RFC 6750).
 */
export type SecretProposal = {
  /** Key of the global. */
  key: string
  /** Name of the security scheme in the description. */
  scheme: string
  asks: 'api key' | 'basic' | 'bearer token' | 'oauth'
  description: string | undefined
}

type Carrier = { place: 'header' | 'query' | 'cookie'; name: string; prefix: string }

/** A security scheme that tools can use. */
export type UsableScheme = { secret: SecretProposal; carrier: Carrier }

/** What an operation sends to authenticate. `unsupported` names the schemes that it would need instead. */
export type Credentials = { schemes: readonly UsableScheme[]; unsupported: readonly string[] }

const AUTHORIZATION = { place: 'header', name: 'Authorization' } as const

const carrierOf = (scheme: JsonObject): readonly [SecretProposal['asks'], Carrier] | undefined => {
  const type = toText(scheme.type)
  const http = toText(scheme.scheme).toLowerCase()
  if (type === 'oauth2' || type === 'openIdConnect') return ['oauth', { ...AUTHORIZATION, prefix: 'Bearer ' }]
  if (type === 'http' && http === 'basic') return ['basic', { ...AUTHORIZATION, prefix: 'Basic ' }]
  if (type === 'http' && http === 'bearer') return ['bearer token', { ...AUTHORIZATION, prefix: 'Bearer ' }]
  const place = (['header', 'query', 'cookie'] as const).find(one => one === scheme.in)
  const name = toText(scheme.name)
  if (type !== 'apiKey' || place === undefined || name === '') return undefined
  return ['api key', { place, name, prefix: '' }]
}

const describeScheme = (given: string, scheme: JsonObject): string => {
  const name = shorten(given, MAX_NAME_CHARS)
  const type = shorten(toText(scheme.type), MAX_NAME_CHARS)
  if (type === '') return `${name} (not described)`
  return `${name} (${type === 'http' ? `HTTP ${shorten(toText(scheme.scheme), MAX_NAME_CHARS)}` : type})`
}

/** Two schemes that use the same header would overwrite each other. */
const areDistinct = (schemes: readonly UsableScheme[]): boolean => {
  const places = schemes.map(({ carrier: { place, name } }) => `${place} ${name.toLowerCase()}`)
  return new Set(places).size === places.length
}

/** How an API authenticates whose description does not say it: with a token, user and password, or a key in a header. */
export type GivenSecurity = 'bearer' | 'basic' | { header: string }

/** The spelling that users give: `bearer`, `basic` or `header:NAME`. */
export const GIVEN_SECURITY = /^(?:bearer|basic|header:([\w-]{1,100}))$/

/** Parses what `GIVEN_SECURITY` matches. Returns undefined for any other text. */
export const toGivenSecurity = (text: string): GivenSecurity | undefined => {
  const [, header] = GIVEN_SECURITY.exec(text) ?? []
  if (header !== undefined) return { header }
  return text === 'bearer' || text === 'basic' ? text : undefined
}

/** Writes the security as a description would have it. */
const toDeclared = (given: GivenSecurity): JsonObject => {
  if (typeof given === 'object') return { [given.header]: { type: 'apiKey', in: 'header', name: given.header } }
  const name = given === 'bearer' ? 'access_token' : 'basic_credentials'
  return { [name]: { type: 'http', scheme: given } }
}

/** Returns whether the description says how any operation authenticates. It can have schemes that none uses. */
const isSaid = ({ root, pathItems, followObject }: Description): boolean => {
  if (toList(root.security).length > 0) return true
  for (const [, item] of pathItems()) {
    const operations = Object.values(followObject(item)).map(toObject)
    if (operations.some(({ security }) => toList(security).length > 0)) return true
  }
  return false
}

/**
 * Reads the security schemes of a description. If no operation uses one, `given` applies to all operations. `taken` are
 * keys that their globals cannot have.
 */
export const readSecurity = (description: Description, taken: Set<string>, given: GivenSecurity | undefined) => {
  const { root, followObject } = description
  const own = objectEntries(toObject(root.components).securitySchemes)
  const isGiven = given !== undefined && (own.length === 0 || !isSaid(description))
  const schemes = isGiven ? objectEntries(toDeclared(given)) : own
  const declared = new Map(schemes.map(([name, scheme]) => [name, followObject(scheme)]))
  const common = isGiven ? schemes.map(([name]) => ({ [name]: [] })) : root.security
  const usable = new Map(
    [...declared].flatMap(([name, scheme]): [string, UsableScheme][] => {
      const carrier = carrierOf(scheme)
      if (carrier === undefined) return []
      const text = plainText(toText(scheme.description), MAX_TEXT_CHARS)
      const key = claimKey(globalKeyOf(name, 'api_key'), taken)
      const secret = { key, scheme: name, asks: carrier[0], description: text === '' ? undefined : text }
      return [[name, { secret, carrier: carrier[1] }]]
    }),
  )
  const credentials = new Set(
    [...declared.values()].flatMap(({ type, in: place, name }) => (type === 'apiKey' ? [`${place} ${name}`] : [])),
  )
  const choose = (security: JsonValue | undefined): Credentials => {
    const alternatives = toList(security).map(one => Object.keys(toObject(one)))
    const needed = alternatives.filter(({ length }) => length > 0)
    for (const names of needed) {
      const found = names.flatMap(name => usable.get(name) ?? [])
      if (found.length === names.length && areDistinct(found)) return { schemes: found, unsupported: [] }
    }
    if (needed.length < alternatives.length) return { schemes: [], unsupported: [] }
    const names = [...new Set(needed.flat())].filter(name => !usable.has(name))
    return { schemes: [], unsupported: names.map(name => describeScheme(name, declared.get(name) ?? {})) }
  }
  const ofAll = choose(common)
  return {
    secrets: [...usable.values()].map(({ secret }) => secret),
    /** Returns whether a parameter of an operation only repeats a security scheme. */
    isCredential: (place: string, name: string): boolean => credentials.has(`${place} ${name}`),
    /** Returns the first alternative whose schemes are all usable. Prefers any to none: APIs tell known callers more. */
    credentialsOf: ({ security }: JsonObject): Credentials => ((security ?? null) === null ? ofAll : choose(security)),
  }
}

export type Security = ReturnType<typeof readSecurity>
