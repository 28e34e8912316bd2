import { isDeepStrictEqual } from 'node:util'
import SwaggerClient from 'swagger-client'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/lib/kernel/json.ts'
import { comparedOurs, comparedTheirs } from './comparison.ts'
import { descriptionOf, document, onlyTool, readAll, render } from './reading.ts'

const STYLES = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const

const VALUES: Readonly<Record<string, readonly JsonValue[]>> = {
  string: ['blue', 'a b', 'x/y?z&w=1', 'é;,|.', '100%', "o'k"],
  integer: [7],
  number: [1.5],
  boolean: [true],
  array: [['blue'], ['a b', 'c,d', 'e&f=g'], [1, 2, 3]],
  object: [
    { R: 100, G: 200 },
    { 'a b': 'x&y', c: 'd,e' },
  ],
}

type Case = { place: keyof typeof STYLES; style: string; explode: boolean; type: string; value: JsonValue }

/** Combinations that OpenAPI defines (3.1.1 §4.8.12.6, "Style Examples"). */
const isDefined = ({ style, explode, type }: Omit<Case, 'value' | 'place'>): boolean => {
  if (style === 'deepObject') return type === 'object' && explode
  if (style === 'spaceDelimited' || style === 'pipeDelimited') return type === 'array' && !explode
  return true
}

const CASES: readonly Case[] = (['path', 'query', 'header', 'cookie'] as const).flatMap(place =>
  STYLES[place].flatMap(style =>
    [true, false].flatMap(explode =>
      Object.entries(VALUES)
        .filter(([type]) => isDefined({ style, explode, type }))
        .flatMap(([type, values]) => values.map(value => ({ place, style, explode, type, value }))),
    ),
  ),
)

const isList = ({ type }: Case): boolean => type === 'array' || type === 'object'

const holds = ({ value }: Case, char: string): boolean => JSON.stringify(value).includes(char)

/** Members with a comma in them. Nothing but their order would tell them from two members. */
const holdsComma = (one: Case): boolean => holds(one, 'c,d') || holds(one, 'd,e')

/** Values that a style cannot serialize, because they contain what separates their members. */
const REFUSED: readonly { clause: string; applies: (one: Case) => boolean }[] = [
  {
    clause: 'a header is not percent-encoded (OpenAPI 3.1.1 appendix D), so a member cannot contain a comma',
    applies: one => one.place === 'header' && isList(one) && holdsComma(one),
  },
  {
    clause: 'a member of a list with spaces between cannot contain one (OpenAPI 3.1.1 §4.8.12.6, appendix E)',
    applies: one => one.style === 'spaceDelimited' && holds(one, 'a b'),
  },
]

/** Where swagger-client departs from the standards, with an example of ours. The list is closed. */
const DIFFERENCES: readonly {
  clause: string
  applies: (one: Case) => boolean
  example: Partial<Case>
  ours: string
}[] = [
  {
    clause: 'label separates by commas unless exploded (OpenAPI 3.1.1 §4.8.12.6, RFC 6570 §3.2.5)',
    applies: one => one.style === 'label' && !one.explode && isList(one) && holdsSeveral(one),
    example: { place: 'path', style: 'label', explode: false, type: 'array', value: [1, 2, 3] },
    ours: '"path":"/a/.1,2,3/b"',
  },
  {
    clause: '| cannot be in a URL unencoded (RFC 3986 appendix A)',
    applies: one => one.style === 'pipeDelimited' && holdsSeveral(one),
    example: { place: 'query', style: 'pipeDelimited', explode: false, type: 'array', value: [1, 2, 3] },
    ours: '"query":["color=1%7C2%7C3"]',
  },
  {
    clause: '& and = are allowed in the value of a cookie (RFC 6265 §4.1.1)',
    applies: one => one.place === 'cookie' && one.type === 'string' && holds(one, '&'),
    example: { place: 'cookie', style: 'form', explode: true, type: 'string', value: 'x/y?z&w=1' },
    ours: '"cookie":"color=x/y?z&w=1"',
  },
  {
    clause: 'the members of an exploded list are cookies of their own (OpenAPI 3.2.0 §4.12.2.2, style cookie)',
    applies: one => one.place === 'cookie' && one.explode && isList(one),
    example: { place: 'cookie', style: 'form', explode: true, type: 'object', value: { R: 100, G: 200 } },
    ours: '"cookie":"R=100; G=200"',
  },
  {
    clause: 'the commas between members are not encoded (RFC 6570 §3.2.8)',
    applies: one => one.place === 'cookie' && !one.explode && isList(one) && holdsSeveral(one),
    example: { place: 'cookie', style: 'form', explode: false, type: 'array', value: [1, 2, 3] },
    ours: '"cookie":"color=1,2,3"',
  },
]

const holdsSeveral = ({ value }: Case): boolean => !Array.isArray(value) || value.length > 1

const specOf = ({ place, style, explode, type }: Case) => {
  const schema = { type, ...(type === 'array' && { items: {} }) }
  const parameter = { name: 'color', in: place, required: true, style, explode, schema }
  const path = place === 'path' ? '/a/{color}/b' : '/a'
  const operation = { operationId: 'op', parameters: [parameter], responses: {} }
  return descriptionOf({ paths: { [path]: { get: operation } } }, '3.0.3')
}

const renderCase = async (one: Case) => {
  const tool = onlyTool((await readAll([document(specOf(one))])).operations)
  return comparedOurs(render(tool, { color: one.value }))
}

const renderTheirs = (one: Case) =>
  comparedTheirs(SwaggerClient.buildRequest({ spec: specOf(one), operationId: 'op', parameters: { color: one.value } }))

const isAnyOf = (list: readonly { applies: (one: Case) => boolean }[], one: Case): boolean =>
  list.some(({ applies }) => applies(one))

const refused = CASES.filter(one => isAnyOf(REFUSED, one))
const different = CASES.filter(one => !isAnyOf(REFUSED, one) && isAnyOf(DIFFERENCES, one))
const equal = CASES.filter(one => !isAnyOf(REFUSED, one) && !isAnyOf(DIFFERENCES, one))

describe('a parameter', () => {
  it.each(equal)(
    'in the $place in style $style, exploded: $explode, as $type $value, is sent as by swagger-client',
    async one => {
      expect(await renderCase(one)).toEqual(renderTheirs(one))
    },
  )

  it.each(different)('in the $place in style $style, exploded: $explode, as $type $value, is not', async one => {
    expect(await renderCase(one)).not.toEqual(renderTheirs(one))
  })

  it.each(DIFFERENCES)('follows the standard: $clause', async ({ example, ours, applies }) => {
    const one = CASES.find(other =>
      Object.entries(example).every(([key, value]) => isDeepStrictEqual(Reflect.get(other, key), value)),
    )
    if (one === undefined) throw new Error('there is no such case')
    expect(applies(one)).toBe(true)
    expect(JSON.stringify(await renderCase(one))).toContain(ours)
  })

  it.each(refused)('in the $place in style $style refuses $value, whose members could not be told apart', async one => {
    await expect(renderCase(one)).rejects.toThrow(/^color /)
  })

  it('has a case for each rule about values that are refused', () => {
    expect(REFUSED.filter(({ applies }) => !CASES.some(applies))).toEqual([])
  })
})
