import type { JsonValue } from '../../lib/kernel/json.ts'
import { decodeFormText } from '../../tools/import/curl-url.ts'
import type { IsSecret } from '../../tools/import/draft-parameters.ts'
import { type Member, typeText } from '../requests/members.ts'
import type { PostmanPair } from './collection.schema.ts'
import { readTypeOnly, withoutRequired } from './generated-values.ts'
import type { RequestTexts } from './request-texts.ts'

/** Values of a query become defaults, those of a form examples: they are mostly made up. */
const toMember = (place: 'query' | 'form', isOptional: boolean, text: string): Partial<Member> => {
  const { type, value } = typeText(text)
  if (isOptional) return { type, isOptional, example: value }
  if (text === '') return { type, default: '' }
  return place === 'query' ? { type, default: value } : { type, example: value }
}

export type PairsContext = { texts: RequestTexts; isSecret: IsSecret; place: 'query' | 'form' }

const encode = (text: string): string => encodeURIComponent(text.toWellFormed())

/**
 * How texts of a collection are written in a request, and what they mean. A query is sent almost as it is, so its texts
 * may be percent-encoded. Postman encodes the texts of a form.
 */
const CODECS = {
  query: {
    decode: decodeFormText,
    writeKey: (text: string): string => text.replaceAll(/[&=#\s"<>]|%(?![0-9A-Fa-f]{2})/g, encode),
    writeValue: (text: string): string => text.replaceAll(/[&#\s"<>]|%(?![0-9A-Fa-f]{2})/g, encode),
  },
  form: { decode: (text: string): string => text, writeKey: encode, writeValue: encode },
} as const

const isOn = ({ disabled }: PostmanPair): boolean => disabled !== true

/** Returns a pair as text, or undefined if it is left out. */
const writePair = (key: string, pair: PostmanPair, { texts, isSecret, place }: PairsContext): string | undefined => {
  const { value, description } = pair
  const { decode, writeKey, writeValue } = CODECS[place]
  const name = decode(key)
  // Postman sends `flag` of a query without a value, and `flag=` of a form.
  if (value === undefined) return isOn(pair) ? writeKey(key) + (place === 'form' ? '=' : '') : undefined
  const add = (member: Partial<Member>): string => {
    const described = { name, description: withoutRequired(description), ...member }
    return `${writeKey(key)}=${texts.members.add(described)}`
  }
  const typeOnly = readTypeOnly(value, description)
  if (typeOnly !== undefined && !isSecret(place, name, '')) return add(typeOnly)
  if (texts.hasVariables(value)) {
    return isOn(pair) ? `${writeKey(key)}=${texts.mark(value, writeValue)}` : add({ isOptional: true })
  }
  if (isSecret(place, name, value)) return isOn(pair) ? `${writeKey(key)}=${writeValue(value)}` : undefined
  return add(toMember(place, !isOn(pair), decode(value)))
}

/** Several values of one key are a list, if none of them is a secret or a variable. */
const writeList = (key: string, pairs: readonly PostmanPair[], context: PairsContext): string | undefined => {
  const { texts, isSecret, place } = context
  const { decode, writeKey } = CODECS[place]
  const name = decode(key)
  const values = pairs.map(({ value }) => value ?? '')
  if (values.some(value => texts.hasVariables(value) || isSecret(place, name, value))) return undefined
  const list: JsonValue[] = values.map(decode)
  const preset = place === 'query' ? { default: list } : { example: list }
  const description = pairs.map(pair => pair.description).find(text => text !== '') ?? ''
  return `${writeKey(key)}=${texts.members.add({ name, description, type: 'json', serialization: 'repeat', ...preset })}`
}

const UNNAMED = 'A name that is a variable without a value was left out, with its value.'

const writePairsOf = (key: string, pairs: readonly PostmanPair[], context: PairsContext): readonly string[] => {
  const enabled = pairs.filter(isOn)
  // Disabled pairs beside an enabled one are other values for the same parameter.
  const [first, ...others] = enabled.length > 0 ? enabled : pairs.slice(0, 1)
  if (first === undefined) return []
  const list = others.length > 0 ? writeList(key, enabled, context) : undefined
  if (list !== undefined) return [list]
  return [first, ...others].flatMap(pair => writePair(key, pair, context) ?? [])
}

/** Writes the pairs of a query or a form. Disabled pairs become optional parameters. */
export const writePairs = (pairs: readonly PostmanPair[], context: PairsContext): string => {
  const named = pairs.filter(({ key }) => key !== undefined && key !== '')
  const byKey = Map.groupBy(named, ({ key = '' }) => context.texts.expand(key))
  if (byKey.has(undefined)) context.texts.note(UNNAMED)
  return [...byKey].flatMap(([key, group]) => (key === undefined ? [] : writePairsOf(key, group, context))).join('&')
}
