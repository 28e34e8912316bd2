import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/lib/kernel/json.ts'
import type { RequestTemplate } from '../../src/templates/template.ts'
import { refusal, rendered } from './compiling.ts'

const API = 'https://api.example.com'
const FORM = [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }]
const cookies = (value: string) => ({ headers: [{ name: 'Cookie', value }] })
const header = (value: string) => ({ headers: [{ name: 'X-List', value }] })

const LIST = ['a b', 'c']
const COLOR = { R: 100, G: 200 }
const TREE = { a: 1, b: [2, 3], c: [{ d: 'x y' }], e: { f: true, g: null }, h: [], i: {} }

describe('a list in a URL', () => {
  it.each<[string, JsonValue, string]>([
    ['/?t={{json:v | repeat}}&z=1', LIST, '/?t=a%20b&t=c&z=1'],
    ['/?t={{json:v | comma}}', LIST, '/?t=a%20b,c'],
    ['/?t={{json:v | comma}}', ['a,b', 'c'], '/?t=a%2Cb,c'],
    ['/?t={{json:v | comma}}', COLOR, '/?t=R,100,G,200'],
    ['/?t={{json:v | comma}}', [1, true, null, { a: 'x' }, ['y']], '/?t=1,true,%7B%22a%22%3A%22x%22%7D,%5B%22y%22%5D'],
    ['/?t=x-{{json:v | comma}}-y', ['a'], '/?t=x-a-y'],
    ['/?t={{json:v | space}}', ['a', 'b'], '/?t=a%20b'],
    ['/?t={{json:v | tab}}', LIST, '/?t=a%20b%09c'],
    ['/?t={{json:v | pipe}}', LIST, '/?t=a%20b%7Cc'],
    ['/?t={{json:v | dot}}', LIST, '/?t=a%20b.c'],
    [
      '/?f{{json:v | brackets}}',
      TREE,
      '/?f%5Ba%5D=1&f%5Bb%5D%5B%5D=2&f%5Bb%5D%5B%5D=3&f%5Bc%5D%5B0%5D%5Bd%5D=x%20y&f%5Be%5D%5Bf%5D=true',
    ],
    ['/?a=1&{{json:v | spread}}&b=2', COLOR, '/?a=1&R=100&G=200&b=2'],
    ['/?ü={{json:v | repeat}}', ["it's", '2'], '/?%C3%BC=it%27s&%C3%BC=2'],
    ['/x/{{json:v | comma}}/y', LIST, '/x/a%20b,c/y'],
    ['/x;t={{json:v | comma}}', COLOR, '/x;t=R,100,G,200'],
    ['/x;t={{json:v | repeat}}/y', LIST, '/x;t=a%20b;t=c/y'],
    ['/x;{{json:v | spread}}', COLOR, '/x;R=100;G=200'],
    ['/x/{{json:v | spread}}', COLOR, '/x/R=100,G=200'],
    ['/x.{{json:v | spread}}', COLOR, '/x.R=100.G=200'],
    ['/x.{{json:v | dot}}', LIST, '/x.a%20b.c'],
    ['/x/{{v | segments}}', 'docs/ä b?.md#x', '/x/docs/%C3%A4%20b%3F.md%23x'],
    ['/x/{{ string:v|segments }}/y', 'a/b', '/x/a/b/y'],
  ])('%s with %j becomes %s', (template, v, becomes) => {
    expect(rendered({ url: API + template }, { v }).url).toBe(API + becomes)
  })

  it('follows a base URL', () => {
    const url = '{{url:base}}/x;t={{json:v | repeat}}/{{p | segments}}?{{json:o? | spread}}'
    const values = { base: 'https://a.example/v1/', v: LIST, p: 'a/b', o: COLOR }
    expect(rendered({ url }, values).url).toBe('https://a.example/v1/x;t=a%20b;t=c/a/b?R=100&G=200')
  })
})

describe('the styles of OpenAPI 3.1.1', () => {
  const array = ['blue', 'black', 'brown']
  const object = { R: 100, G: 200, B: 150 }

  it.each([
    ['matrix', '/;color={{json:v | comma}}', '/;color=blue,black,brown', '/;color=R,100,G,200,B,150'],
    ['matrix, exploded array', '/;color={{json:v | repeat}}', '/;color=blue;color=black;color=brown', undefined],
    ['matrix, exploded object', '/;{{json:v | spread}}', undefined, '/;R=100;G=200;B=150'],
    ['label', '/.{{json:v | comma}}', '/.blue,black,brown', '/.R,100,G,200,B,150'],
    ['label, exploded array', '/.{{json:v | dot}}', '/.blue.black.brown', undefined],
    ['label, exploded object', '/.{{json:v | spread}}', undefined, '/.R=100.G=200.B=150'],
    ['simple', '/{{json:v | comma}}', '/blue,black,brown', '/R,100,G,200,B,150'],
    ['simple, exploded object', '/{{json:v | spread}}', undefined, '/R=100,G=200,B=150'],
    ['form', '/?color={{json:v | comma}}', '/?color=blue,black,brown', '/?color=R,100,G,200,B,150'],
    ['form, exploded array', '/?color={{json:v | repeat}}', '/?color=blue&color=black&color=brown', undefined],
    ['form, exploded object', '/?{{json:v | spread}}', undefined, '/?R=100&G=200&B=150'],
    ['spaceDelimited', '/?c={{json:v | space}}', '/?c=blue%20black%20brown', '/?c=R%20100%20G%20200%20B%20150'],
    ['pipeDelimited', '/?c={{json:v | pipe}}', '/?c=blue%7Cblack%7Cbrown', '/?c=R%7C100%7CG%7C200%7CB%7C150'],
    ['deepObject', '/?c{{json:v | brackets}}', undefined, '/?c%5BR%5D=100&c%5BG%5D=200&c%5BB%5D=150'],
  ])('are sent as in its examples: %s', (_style, template, ofArray, ofObject) => {
    for (const [v, becomes] of [
      [array, ofArray],
      [object, ofObject],
    ] as const) {
      const url = API + template
      if (becomes === undefined) expect(refusal({ url }, { v })).toMatch(/^v must be an (?:array|object)/)
      else expect(rendered({ url }, { v }).url).toBe(API + becomes)
    }
  })
})

describe('a list elsewhere', () => {
  it.each<[Partial<RequestTemplate>, JsonValue, string]>([
    [header('{{json:v | comma}}'), LIST, 'a b,c'],
    [header('{{json:v | space}}'), ['a', 'b'], 'a b'],
    [header('{{json:v | pipe}}'), LIST, 'a b|c'],
    [header('a=1, {{json:v | spread}}'), COLOR, 'a=1, R=100,G=200'],
    [cookies('a=1; t={{json:v | repeat}}'), LIST, 'a=1; t=a%20b; t=c'],
    [cookies('t={{json:v | comma}}; a=1'), ['a,b', 'c;d'], 't=a%2Cb,c%3Bd; a=1'],
    [cookies('{{json:v | spread}}'), { 'a;(b)': '1; c=2' }, 'a%3B%28b%29=1%3B%20c%3D2'],
  ])('%j with %j becomes %s', (parts, v, becomes) => {
    expect(rendered(parts, { v }).headers).toEqual([[parts.headers?.[0]?.name, becomes]])
  })

  it('is encoded in a form as in a query', () => {
    const body = 'a=1&t={{json:t | repeat}}&c={{json:t | comma}}&f{{json:o | brackets}}&{{json:o | spread}}'
    expect(rendered({ headers: FORM, body }, { t: LIST, o: { "it's": '+' } }).body).toBe(
      "a=1&t=a%20b&t=c&c=a%20b,c&f%5Bit's%5D=%2B&it's=%2B",
    )
  })

  it('is sent in cookies also by tools of older rules, which have no lists, and is encoded there', () => {
    const value = rendered({ ...cookies('a={{json:v | comma}}'), templateRules: 1 }, { v: ['x; b=2'] }).headers[0]?.[1]
    expect(value).toBe('a=x%3B%20b%3D2')
  })
})

const part = (name: string, content: string): string =>
  `--part-7\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`

describe('a list in a header', () => {
  it.each(['', ' a', 'a\t', 'a,b', 'a\r\nX: y', '€', '"a', 'a"b"c"', '"a\\"'])('has no member %j', member => {
    expect(refusal(header('{{json:v | comma}}, b'), { v: ['a', member] })).toMatch(/^v must be an array or an object, /)
  })

  it.each(['"a"', 'W/"a"', 'a;q=0.5'])('may have the member %j', member => {
    expect(rendered(header('{{json:v | comma}}, b'), { v: ['a', member] }).headers).toEqual([
      ['X-List', `a,${member}, b`],
    ])
  })
})

describe('a list in a multipart body', () => {
  const headers = [{ name: 'Content-Type', value: 'multipart/form-data; boundary=part-7' }]
  const body = `${part('a', '{{a?}}')}${part('tags', '{{json:tags? | repeat}}')}${part('ids', '{{json:ids? | comma}}')}--part-7--\r\n`
  const read = async (values: Record<string, JsonValue>) => {
    const request = rendered({ headers, body }, values)
    const data = await new Response(request.body ?? '', {
      headers: { 'content-type': headers[0]?.value ?? '' },
    }).formData()
    return [...data]
  }

  it('repeats its part, with the headers of the part', async () => {
    const tags = ['x\r\n\r\ny', '--part', 'ü']
    expect(await read({ a: '1', tags, ids: [1, 2] })).toEqual([
      ['a', '1'],
      ...tags.map(tag => ['tags', tag]),
      ['ids', '1,2'],
    ])
  })

  it('is left out with its part if it is empty or missing', async () => {
    for (const values of [
      { a: '1', ids: [1] },
      { a: '1', tags: [], ids: [1] },
    ]) {
      expect(await read(values)).toEqual([
        ['a', '1'],
        ['ids', '1'],
      ])
    }
  })

  it('is refused if a member contains the boundary', () => {
    expect(refusal({ headers, body }, { tags: ['a', 'part-7'], ids: [1] })).toMatch(/^tags must be an array/)
    expect(refusal({ headers, body }, { tags: ['a'], a: '--part-7', ids: [1] })).toMatch(/^a must not contain/)
  })
})
