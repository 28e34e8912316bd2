import { isReservedHeader } from '../../lib/kernel/http-headers.ts'
import type { IsSecret } from '../../tools/import/draft-parameters.ts'
import type { Pair } from '../../tools/import/imported-request.ts'
import type { PostmanPair } from './collection.schema.ts'
import { readTypeOnly, withoutRequired } from './generated-values.ts'
import type { RequestTexts } from './request-texts.ts'

export type GivenHeaders = { headers: readonly Pair[]; contentType: string | undefined }

/** Headers that a disabled entry says nothing about: the tool or its credentials decide them. */
const NOT_OPTIONAL = /^(?:accept(?:-.*)?|authorization|cache-control|content-type|cookie|origin|referer|user-agent)$/i

const isPostmansOwn = (name: string, value: string): boolean =>
  /^postman-token$/i.test(name) || (/^user-agent$/i.test(name) && /^PostmanRuntime\//.test(value))

type Context = { texts: RequestTexts; isSecret: IsSecret }

const writeHeader = (
  { value = '', disabled, description }: PostmanPair,
  name: string,
  { texts, isSecret }: Context,
): Pair[] => {
  const typeOnly = readTypeOnly(value, description)
  const member = { name, description: withoutRequired(description) }
  if (disabled === true) {
    if (NOT_OPTIONAL.test(name) || isSecret('header', name, value)) return []
    const example = typeOnly !== undefined || texts.hasVariables(value) ? {} : { example: value }
    return [{ name, value: texts.members.add({ ...member, isOptional: true, ...example }) }]
  }
  if (typeOnly !== undefined && !NOT_OPTIONAL.test(name)) {
    return [{ name, value: texts.members.add({ ...member, ...typeOnly }) }]
  }
  return value === '' ? [] : [{ name, value: texts.mark(value) }]
}

/** Reads the headers that a request has itself. Disabled ones become optional parameters, except for secrets. */
export const readHeaders = (given: readonly PostmanPair[], context: Context): GivenHeaders => {
  const { texts } = context
  const headers: Pair[] = []
  let contentType: string | undefined
  for (const header of given) {
    const name = texts.expand(header.key ?? '')?.trim()
    if (name === undefined) texts.note('A header whose name is a variable without a value was left out.')
    if (name === undefined || name === '' || isPostmansOwn(name, header.value ?? '')) continue
    if (isReservedHeader(name.toLowerCase())) continue
    if (!/^content-type$/i.test(name)) headers.push(...writeHeader(header, name, context))
    else if (header.disabled !== true) contentType ??= texts.expand(header.value ?? '')
  }
  return { headers, contentType }
}
