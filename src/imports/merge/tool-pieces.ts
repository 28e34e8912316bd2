import { isDeepStrictEqual } from 'node:util'
import { parseTree } from 'jsonc-parser'
import { kindOf } from '../../templates/body-template.ts'
import { MAX_BODY_TEMPLATE_CHARS } from '../../templates/limits.ts'
import { scanTemplate } from '../../templates/scan.ts'
import type { ToolDefinition } from '../../tools/tool.ts'

/**
 * A definition as pieces that are compared by themselves, by key: `name`, `description`, `url.path`, `url.query.limit`,
 * `headers.accept`, `body.name`, `parameters.limit`, and so on. A repeated key has a number: `url.query.tag 2`.
 */
export type Pieces = ReadonlyMap<string, unknown>

/** How the members of a body are separated, if it has members that are compared by themselves. */
export type BodyShape = 'json' | 'form' | 'whole'

/** Replaces placeholders by digits, so that other text can be parsed. Offsets stay. */
const withDigits = (text: string): string => {
  let written = ''
  for (const { offset } of scanTemplate(text, { pairs: 'keep', maxChars: MAX_BODY_TEMPLATE_CHARS }).places) {
    const end = text.indexOf('}}', offset) + 2
    written += text.slice(written.length, offset) + '1'.repeat(Math.max(0, end - offset))
  }
  return written + text.slice(written.length)
}

/** Splits at a character that is not in a placeholder. */
const splitOutside = (text: string, separator: string): readonly string[] => {
  const digits = withDigits(text)
  let from = 0
  return digits.split(separator).map(part => {
    const start = from
    from += part.length + separator.length
    return text.slice(start, start + part.length)
  })
}

const splitUrl = (url: string): { path: string; query: readonly string[] } => {
  const question = withDigits(url).indexOf('?')
  if (question === -1) return { path: url, query: [] }
  return { path: url.slice(0, question), query: splitOutside(url.slice(question + 1), '&') }
}

/** The key of a pair. One that a serialization such as `spread` brings is its placeholder. */
const keyOfPair = (pair: string): string => {
  const key = withDigits(pair).split('=', 1)[0] ?? ''
  return pair.slice(0, key.length)
}

const jsonMembers = (body: string): readonly (readonly [string, string])[] | undefined => {
  const tree = /^\s*\{/.test(body) ? parseTree(withDigits(body), [], { disallowComments: true }) : undefined
  if (tree?.type !== 'object') return undefined
  return (tree.children ?? []).map(({ offset, length, children: [key] = [] }) => [
    String(key?.value),
    body.slice(offset, offset + length),
  ])
}

type Body = Pick<ToolDefinition, 'body' | 'headers'>

/** Returns how a body can be split. A tool without a body has no members, whatever the others have. */
export const shapeOf = ({ body = '', headers }: Body): BodyShape | undefined => {
  if (body === '') return undefined
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? 'application/json'
  const kind = kindOf(type)
  if (kind === 'form') return 'form'
  return kind === 'json' && jsonMembers(body) !== undefined ? 'json' : 'whole'
}

const bodyMembers = (body: string, shape: BodyShape): readonly (readonly [string, string])[] => {
  if (body === '') return []
  if (shape === 'json') return (jsonMembers(body) ?? []).map(([key, text]) => [`body.${key}`, text])
  if (shape === 'form') return splitOutside(body, '&').map(pair => [`body.${keyOfPair(pair)}`, pair])
  return [['body', body]]
}

/** Fields that are pieces as a whole. */
const FIELDS = [
  'name',
  'title',
  'description',
  'method',
  'timeoutMs',
  'retries',
  'callPrice',
  'templateRules',
  'inputSchema',
  'outputSchema',
  'allowedOrigins',
  'response',
  'pagination',
  'cacheSeconds',
  'cacheShared',
] as const

export const toPieces = (tool: ToolDefinition, shape: BodyShape): Pieces => {
  const pieces = new Map<string, unknown>()
  const put = (key: string, value: unknown): void => {
    if (value === undefined) return
    let free = key
    for (let count = 2; pieces.has(free); count++) free = `${key} ${count}`
    pieces.set(free, value)
  }
  for (const field of FIELDS) put(field, tool[field])
  const { path, query } = splitUrl(tool.url)
  put('url.path', path)
  for (const pair of query) put(`url.query.${keyOfPair(pair)}`, pair)
  for (const header of tool.headers) put(`headers.${header.name.toLowerCase()}`, header)
  // An object without members is a body, too.
  if (shape === 'json' && tool.body) put('body', '{}')
  for (const [key, text] of bodyMembers(tool.body ?? '', shape)) put(key, text)
  for (const [name, meta] of Object.entries(tool.parameters)) put(`parameters.${name}`, meta)
  for (const [key, value] of Object.entries(tool.annotations ?? {})) put(`annotations.${key}`, value)
  return pieces
}

const isUnder = (key: string, prefix: string): boolean => key === prefix || key.startsWith(`${prefix}.`)

/** Returns whether two definitions have the same pieces in a part, such as `headers`. */
export const areSameUnder = (one: Pieces, other: Pieces, prefix: string): boolean => {
  const under = (pieces: Pieces) => new Map([...pieces].filter(([key]) => isUnder(key, prefix)))
  return isDeepStrictEqual(under(one), under(other))
}
