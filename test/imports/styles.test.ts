import { isDeepStrictEqual } from 'node:util'
import SwaggerClient from 'swagger-client'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/lib/kernel/json.ts'
import { comparedForm, comparedOurs, comparedTheirs } from './comparison.ts'
import { descriptionOf, document, onlyTool, readAll, render } from './reading.ts'

const STYLES = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const

const VALUES: Readonly<Record<string, readonly JsonValue[]>> = {
  string: ['blue', 'a b', 'x/y?z&w=1', 'é;,|.', '100%', '%41', 'a+b', '#:@[]', "o'k", '"*"'],
  integer: [7, -1],
  number: [1.5, -0.25],
  boolean: [true, false],
  array: [['blue'], ['a b', 'c,d', 'e&f=g'], ['é', '+', '%', '/?#'], [1, 2, 3], [true, false]],
  object: [
    { R: 100, G: 200 },
    { 'a b': 'x&y', c: 'd,e' },
    { é: '100%', n: 1.5, t: true },
  ],
}

type Case = { place: keyof typeof STYLES; style: string; explode: boolean; type: string; value: JsonValue }

/** Combinations that OpenAPI defines (3.1.1 §4.8.12.6, "Style Examples"). */
const isDefined = ({ style, explode, type }: Omit<Case, 'value' | 'place'>): boolean => {
  if (style === 'deepObject') return type === 'object' && explode
  if (style === 'spaceDelimited' || style === 'pipeDelimited')
    return !explode && (type === 'array' || type === 'object')
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
  {
    clause: 'a dot between members is not encoded within them either (RFC 6570 §3.2.5)',
    applies: one => one.style === 'label' && one.explode && isList(one) && holds(one, '.'),
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
    clause: 'an object may have spaces between its names and values (OpenAPI 3.1.1 §4.8.12.6)',
    applies: one => one.style === 'spaceDelimited' && one.type === 'object',
    example: { place: 'query', style: 'spaceDelimited', explode: false, type: 'object', value: { R: 100, G: 200 } },
    ours: '"query":["color=R+100+G+200"]',
  },
  {
    clause: 'a quotation mark cannot be in the value of a cookie (RFC 6265 §4.1.1)',
    applies: one => one.place === 'cookie' && one.type === 'string' && holds(one, '*'),
    example: { place: 'cookie', style: 'form', explode: true, type: 'string', value: '"*"' },
    ours: '"cookie":"color=%22*%22"',
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

const COLORS = ['blue', 'black', 'brown']
const SHADES = { R: 100, G: 200, B: 150 }

/** The examples of OpenAPI 3.1.1 §4.8.12.6: a text, an array and an object. Undefined if the style has none for it. */
const EXAMPLES: readonly (readonly [style: string, explode: boolean, ...(string | undefined)[]])[] = [
  ['matrix', false, ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
  ['matrix', true, ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ['label', false, '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
  ['label', true, '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
  ['simple', false, 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['simple', true, 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ['form', false, 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['form', true, 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  ['spaceDelimited', false, undefined, 'color=blue%20black%20brown', 'color=R%20100%20G%20200%20B%20150'],
  ['pipeDelimited', false, undefined, 'color=blue%7Cblack%7Cbrown', 'color=R%7C100%7CG%7C200%7CB%7C150'],
  ['deepObject', true, undefined, undefined, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
]

const IN_PATH: readonly string[] = STYLES.path

describe('an example of the standard', () => {
  const rows = EXAMPLES.flatMap(([style, explode, ...sent]) =>
    sent.flatMap((text, index) => (text === undefined ? [] : [{ style, explode, index, text }])),
  )

  it.each(rows)('in style $style, exploded: $explode, is sent as $text', async ({ style, explode, index, text }) => {
    const type = ['string', 'array', 'object'][index] ?? ''
    const place = IN_PATH.includes(style) ? 'path' : 'query'
    const one = { place, style, explode, type, value: ['blue', COLORS, SHADES][index] ?? '' } as const
    const tool = onlyTool((await readAll([document(specOf(one))])).operations)
    const { url } = render(tool, { color: one.value })
    const { pathname, search } = new URL(url)
    const sent = place === 'path' ? pathname.slice('/a/'.length, -'/b'.length) : search.slice(1)
    // Servers read brackets with and without escapes.
    expect(sent.replaceAll('[', '%5B').replaceAll(']', '%5D')).toBe(text)
  })
})

const PLACES_OF_LISTS = ['query', 'path', 'header', 'formData'] as const
const FORMATS = ['csv', 'ssv', 'tsv', 'pipes', 'multi', undefined] as const
type Collection = { place: (typeof PLACES_OF_LISTS)[number]; format: (typeof FORMATS)[number]; value: JsonValue[] }

/** The formats of arrays in Swagger 2.0. Only queries and forms can repeat a value. */
const COLLECTIONS: readonly Collection[] = PLACES_OF_LISTS.flatMap(place =>
  FORMATS.filter(format => format !== 'multi' || place === 'query' || place === 'formData').flatMap(format =>
    [['blue'], ['é', '100%', "o'k"], [1, 2, 3]].map(value => ({ place, format, value })),
  ),
)

/** Where swagger-client does not have the separators of Swagger 2.0 ("Parameter Object", collectionFormat). */
const isOther = ({ place, format, value }: Collection): boolean => {
  const isDelimited = format === 'ssv' || format === 'tsv' || format === 'pipes'
  if (value.length === 1) return false
  return place === 'path' || (place === 'header' && isDelimited) || (place === 'query' && format === 'pipes')
}

const SEPARATORS = { csv: ',', ssv: ' ', tsv: '\t', pipes: '|', multi: '&' } as const

describe('a collection of Swagger 2.0', () => {
  const specOfList = ({ place, format, value: _value }: Collection) => {
    const own = format === undefined ? {} : { collectionFormat: format }
    const parameters = [{ name: 'color', in: place, required: true, type: 'array', items: {}, ...own }]
    const consumes = ['application/x-www-form-urlencoded']
    const operation = { operationId: 'op', consumes, parameters, responses: {} }
    const paths = { [place === 'path' ? '/a/{color}/b' : '/a']: { post: operation } }
    const info = { title: 'x', version: '1' }
    return { swagger: '2.0', info, host: 'api.example.com', schemes: ['https'], paths }
  }
  const renderOurs = async (one: Collection) =>
    render(onlyTool((await readAll([document(specOfList(one))])).operations), { color: one.value })
  const renderTheirList = (one: Collection) =>
    SwaggerClient.buildRequest({ spec: specOfList(one), operationId: 'op', parameters: { color: one.value } })

  it.each(COLLECTIONS.filter(one => !isOther(one)))(
    '$format of $value in $place is as by swagger-client',
    async one => {
      const [ours, theirs] = [await renderOurs(one), renderTheirList(one)]
      expect(comparedOurs(ours)).toEqual(comparedTheirs(theirs))
      if (one.place === 'formData') expect(comparedForm(ours.body)).toEqual(comparedForm(theirs.body))
    },
  )

  it.each(COLLECTIONS.filter(isOther))('$format of $value in $place has the separator of the standard', async one => {
    const ours = await renderOurs(one)
    const { pathname, searchParams } = new URL(ours.url)
    const texts = {
      path: decodeURIComponent(pathname.slice('/a/'.length, -'/b'.length)),
      query: searchParams.get('color'),
      header: new Map(ours.headers).get('color'),
      formData: undefined,
    }
    expect(texts[one.place]).toBe(one.value.join(SEPARATORS[one.format ?? 'csv']))
    expect(comparedOurs(ours)).not.toEqual(comparedTheirs(renderTheirList(one)))
  })
})

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

  it('is sent as by swagger-client in at least 97 % of the cases in which that follows the standards', async () => {
    const counted = CASES.length - different.length
    expect(equal.length / counted).toBeGreaterThan(0.97)
  })

  it('has a case for each rule about values that are refused', () => {
    expect(REFUSED.filter(({ applies }) => !CASES.some(applies))).toEqual([])
  })
})
