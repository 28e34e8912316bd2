import type { JsonValue } from '../../lib/kernel/json.ts'
import type { ParameterType } from '../../templates/template.ts'
import { decodeFormText } from '../../tools/import/curl-url.ts'
import type { IsSecret } from '../../tools/import/draft-parameters.ts'
import { type Member, typeText } from '../requests/members.ts'
import type { PostmanPair } from './collection.schema.ts'
import type { RequestTexts } from './request-texts.ts'

/** What generators of collections write in place of a value. */
const TYPES: ReadonlyMap<string, ParameterType> = new Map([
  ['string', 'string'],
  ['integer', 'integer'],
  ['long', 'integer'],
  ['number', 'number'],
  ['float', 'number'],
  ['double', 'number'],
  ['boolean', 'boolean'],
])

/** How Postman's own generator starts the description of what the API requires. */
const REQUIRED = /^\s*\(Required\)\s*/

/** Reads `<integer>` and the like. Such a member is required if the description says so. */
const readTypeOnly = ({ value = '', description }: PostmanPair): Partial<Member> | undefined => {
  const name = /^<([a-z]{1,20})>$/i.exec(value)?.[1]
  if (name === undefined) return undefined
  return { type: TYPES.get(name.toLowerCase()) ?? 'string', isOptional: !REQUIRED.test(description) }
}

/** Values of a query become defaults, those of a form examples: they are mostly made up. */
const toMember = (place: 'query' | 'form', isOptional: boolean, text: string): Partial<Member> => {
  const { type, value } = typeText(text)
  if (isOptional) return { type, isOptional, example: value }
  if (text === '') return { type, default: '' }
  return place === 'query' ? { type, default: value } : { type, example: value }
}

/** Escapes what would end a value. What is percent-encoded already stays. */
const escapeValue = (text: string): string => text.replaceAll(/[&#\s"<>]|%(?![0-9A-Fa-f]{2})/g, encodeURIComponent)
const escapeKey = (text: string): string => text.replaceAll(/[&=#\s"<>]|%(?![0-9A-Fa-f]{2})/g, encodeURIComponent)

export type PairsContext = { texts: RequestTexts; isSecret: IsSecret; place: 'query' | 'form' }

const isOn = ({ disabled }: PostmanPair): boolean => disabled !== true

/** Returns a pair as text, or undefined if it is left out. */
const writePair = (key: string, pair: PostmanPair, { texts, isSecret, place }: PairsContext): string | undefined => {
  const { value, description } = pair
  const name = decodeFormText(key)
  if (value === undefined) return isOn(pair) ? escapeKey(key) : undefined
  const add = (member: Partial<Member>): string => {
    const text = description.replace(REQUIRED, '')
    return `${escapeKey(key)}=${texts.members.add({ name, description: text, ...member })}`
  }
  const typeOnly = readTypeOnly(pair)
  if (typeOnly !== undefined && !isSecret(place, name, '')) return add(typeOnly)
  if (texts.hasVariables(value)) {
    return isOn(pair) ? `${escapeKey(key)}=${texts.mark(value, escapeValue)}` : add({ isOptional: true })
  }
  if (isSecret(place, name, value)) return isOn(pair) ? `${escapeKey(key)}=${escapeValue(value)}` : undefined
  return add(toMember(place, !isOn(pair), decodeFormText(value)))
}

/** Several values of one key are a list, if none of them is a secret or a variable. */
const writeList = (key: string, pairs: readonly PostmanPair[], context: PairsContext): string | undefined => {
  const { texts, isSecret, place } = context
  const name = decodeFormText(key)
  const values = pairs.map(({ value }) => value ?? '')
  if (values.some(value => texts.hasVariables(value) || isSecret(place, name, value))) return undefined
  const list: JsonValue[] = values.map(decodeFormText)
  const preset = place === 'query' ? { default: list } : { example: list }
  const description = pairs.map(pair => pair.description).find(text => text !== '') ?? ''
  return `${escapeKey(key)}=${texts.members.add({ name, description, type: 'json', serialization: 'repeat', ...preset })}`
}

const UNNAMED = 'A name that is a variable without a value was left out, with its value.'

const writeKey = (key: string, pairs: readonly PostmanPair[], context: PairsContext): readonly string[] => {
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
  return [...byKey].flatMap(([key, group]) => (key === undefined ? [] : writeKey(key, group, context))).join('&')
}
