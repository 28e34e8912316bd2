import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { compileTemplate } from '../../src/templates/compile.ts'
import { SERIALIZATIONS } from '../../src/templates/template.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { errorsOf, template, valuesOf } from './compiling.ts'
import { anyArray, anyTree, listText } from './list-arbitraries.ts'

const typed = (value: string) => [{ name: 'Content-Type', value }]
const FORM = typed('application/x-www-form-urlencoded')
const MULTIPART = typed('multipart/form-data; boundary=aa')

describe('a serialization that cannot be saved', () => {
  it.each([
    [
      '?a={{json:x | list}}',
      22,
      '"list" is not a serialization. Use repeat, comma, space, tab, pipe, dot, brackets, spread or segments',
    ],
    ['?a={{json:x |}}', 22, '"" is not a serialization. Use repeat'],
    ['?a={{json:x | comma | dot}}', 22, '"comma | dot" is not a serialization'],
    ['?a={{x | comma}}', 22, '"comma" needs a parameter of type json. Write {{json:name | comma}}'],
    ['?a={{integer:x | repeat}}', 22, '"repeat" needs a parameter of type json'],
    ['{{json:x | segments}}', 19, '"segments" needs a parameter of type string. Write {{string:name | segments}}'],
    [
      '?a={{x | segments}}',
      22,
      '"segments" is not allowed in the query of the URL. Use repeat, comma, space, tab, pipe, dot, brackets or spread',
    ],
    ['?{{json:x | repeat}}', 20, 'a key cannot contain a placeholder'],
    ['?a=-{{json:x | repeat}}', 23, '"repeat" must be the whole value of a key, as in tag={{json:name | repeat}}'],
    ['?a={{json:x | repeat}}{{b}}', 22, '"repeat" must be the whole value'],
    ['?{{json:x | brackets}}', 20, '"brackets" must directly follow a key, as in filter{{json:name | brackets}}'],
    ['?a={{json:x | brackets}}', 22, '"brackets" must directly follow a key'],
    ['?a{{json:x | brackets}}=1', 21, '"brackets" must directly follow a key'],
    ['?a=1&a{{json:x | brackets}}', 25, 'the key in front of "brackets" is there twice'],
    ['?a={{json:x | spread}}', 22, '"spread" replaces a whole key and value'],
    ['?{{json:x | spread}}=1', 20, '"spread" replaces a whole key and value'],
    [
      '{{json:x | brackets}}',
      19,
      '"brackets" is not allowed in the path of the URL. Use repeat, comma, space, tab, pipe, dot, spread or segments',
    ],
    ['{{json:x | repeat}}', 19, '"repeat" in the path must follow a key, as in /x;tag={{json:name | repeat}}'],
    ['x;a={{json:x | repeat}}b', 23, '"repeat" in the path must follow a key'],
    ['x;a={{json:x | repeat}}{{b}}', 23, '"repeat" in the path must follow a key'],
    ['x{{json:x | spread}}', 20, '"spread" in the path must follow / ; . or a comma'],
    ['{{json:x | spread}}x', 19, '"spread" in the path must follow / ; . or a comma'],
    ['{{json:x | spread}}/{{json:y | spread}}', 39, 'only one parameter in the path can have "spread"'],
    ['{{json:x? | comma}}', 19, '"x" cannot be optional here'],
    ['{{p? | segments}}', 19, '"p" cannot be optional here'],
    ['{{p | segments=a/../b}}', 19, 'the default of "p" must consist of segments'],
    ['?a={{json:x | comma=1}}', 22, 'the default of "x" must be an array or an object'],
    [
      '?a={{json:x | pipe=["a|b"]}}',
      22,
      'the default of "x" must be an array or an object, without members that contain "|"',
    ],
    ['?b=1&{{json:x | spread={"b": 1}}}', 24, '"spread" replaces a whole key and value'],
  ])('in the URL: %s, column %d', (rest, column, message) => {
    const errors = errorsOf({ url: `https://a.example/${rest}` })
    expect(errors[0]).toMatchObject({ field: 'url', line: 1, column })
    expect(errors[0]?.message).toContain(message)
  })

  it.each([
    ['{{url:b | comma}}/', '"comma" needs a parameter of type json'],
    ['https://{{h | segments}}.example/', '"segments" is not allowed in the origin of the URL'],
    ['https://{{json:h | comma}}.example/', '"comma" is not allowed in the origin of the URL'],
  ])('in the origin: %s', (url, message) => {
    expect(errorsOf({ url })[0]?.message).toContain(message)
  })

  it.each([
    ['X', '{{json:x | repeat}}', '"repeat" is not allowed in a header. Use comma, space, tab, pipe, dot or spread'],
    ['X', 'a {{json:x | spread}}', '"spread" must be a whole member of a header, as in a=1, {{json:name | spread}}'],
    ['X', '{{json:x | spread}}; a', '"spread" must be a whole member of a header'],
    ['X', '{{json:x | spread}}, {{json:y | spread}}', 'only one parameter in a header can have "spread"'],
    ['Cookie', 'a{{json:x | brackets}}', '"brackets" is not allowed in the Cookie header. Use repeat, comma'],
    ['Cookie', '{{x | segments}}', '"segments" is not allowed in the Cookie header'],
    ['Cookie', 'a={{json:x | spread}}', '"spread" replaces a whole cookie, as in a=1; {{json:name | spread}}'],
    [
      'Cookie',
      'a=b{{json:x | repeat}}',
      '"repeat" must be the whole value of a cookie, as in tag={{json:name | repeat}}',
    ],
    ['Cookie', '{{json:x | comma}}', 'a placeholder in the Cookie header must follow a name'],
  ])('in a header: %s: %s', (name, value, message) => {
    const errors = errorsOf({ headers: [{ name, value }] })
    expect(errors[0]).toMatchObject({ field: 'headers[0].value', line: 1 })
    expect(errors[0]?.message).toContain(message)
  })

  it.each(['Cookie', 'X-List'])('in one of two headers with the same name: %s', name => {
    const headers = [
      { name, value: 'admin=0' },
      { name: name.toLowerCase(), value: '{{json:x | spread}}' },
    ]
    const message = expect.stringContaining(`there is another ${name.toLowerCase()} header`)
    expect(errorsOf({ headers })).toEqual([{ field: 'headers[1].value', line: 1, column: 1, message }])
  })

  it.each([
    [typed('application/json'), '{"a": {{json:x | comma}}}', '"comma" is not allowed in JSON. Serializations are for'],
    [typed('application/json'), '{"a": "{{json:x | comma}}"}', '"comma" is not allowed in JSON'],
    [[], '{{json:x | spread}}', '"spread" is not allowed in JSON'],
    [typed('text/xml'), '<a>{{json:x | comma}}</a>', '"comma" is not allowed in XML'],
    [typed('text/xml'), '{{x | segments}}', '"segments" is not allowed in XML'],
    [typed('text/plain'), 'a={{json:x | repeat}}', '"repeat" is not allowed in a body of text'],
    [FORM, 'a={{x | segments}}', '"segments" is not allowed in a form. Use repeat'],
    [FORM, 'a{{json:x | spread}}', '"spread" replaces a whole key and value'],
    [MULTIPART, '{{json:x | comma}}', '"comma" is not allowed as the whole multipart body'],
    [
      MULTIPART,
      '--aa\n\n{{json:x | spread}}\n--aa--',
      '"spread" is not allowed in a multipart body. Use repeat, comma',
    ],
    [MULTIPART, '--aa\nX: {{json:x | comma}}\n\n--aa--', '"comma" is not allowed in a header of a part'],
    [MULTIPART, '--aa\n\n-{{json:x | repeat}}\n--aa--', '"repeat" must be the whole content of a part'],
    [MULTIPART, '--aa\n\n{{json:x | repeat}}\n\n--aa--', '"repeat" must be the whole content of a part'],
    [MULTIPART, '--aa\n\n\n{{json:x | repeat}}\n--aa--', '"repeat" must be the whole content of a part'],
    [
      MULTIPART,
      '--aa\nX: {{y}}\n\n{{json:x | repeat}}\n--aa--',
      '"repeat" must be the whole content of a part that has no other',
    ],
    [MULTIPART, 'x\n\n{{json:x | repeat}}\n--aa--', '"repeat" must be the whole content of a part'],
  ])('in a body: %j %s', (headers, body, message) => {
    const errors = errorsOf({ headers, body })
    expect(errors[0]?.field).toBe('body')
    expect(errors[0]?.message).toContain(message)
  })

  it('accepts no value that another one of the same parameter accepts', () => {
    expect(errorsOf({ url: 'https://a.example/?a={{json:x | repeat}}&{{json:x | spread}}' })).toEqual([
      {
        field: 'url',
        line: 1,
        column: 42,
        message:
          '"x" must be an array for "repeat" in url, line 1, column 22, but an object for "spread" in url, line 1, column 42. Use two parameters',
      },
    ])
    expect(errorsOf({ url: 'https://a.example/?a={{json:x | comma}}&{{json:x | spread}}&b={{json:x}}' })).toEqual([])
  })
})

/** A placeholder of the list `l`, the object `o` or the string `s`. */
const anyPlaceholder = fc
  .tuple(fc.constantFrom(...SERIALIZATIONS), fc.boolean(), fc.constantFrom('', '?'))
  .map(([one, isObject, mark]) => {
    if (one === 'segments') return `{{s${mark} | segments}}`
    const takesBoth = one === 'comma' || one === 'space' || one === 'pipe'
    const name = one === 'spread' || one === 'brackets' || (takesBoth && isObject) ? 'o' : 'l'
    return `{{json:${name}${mark} | ${one}}}`
  })

/** Text with placeholders anywhere. Many such texts cannot be saved. */
const anyTemplate = (pieces: readonly string[]) =>
  fc.array(fc.oneof(fc.constantFrom(...pieces), anyPlaceholder), { maxLength: 6 }).map(parts => parts.join(''))

describe('any list anywhere in a request', () => {
  const values = fc.record({ l: anyArray, o: anyTree, s: listText })
  type Values = { l: JsonValue[]; o: JsonObject; s: string }
  const calm: Values = { l: ['q'], o: { q: 'q' }, s: 'q' }

  it('changes neither the origin, the other segments nor the fixed keys of its URL', () => {
    const paths = anyTemplate(['/', '/x', ';k=', ';', '.', ',', 'x', '{{t}}'])
    const queries = anyTemplate(['&', '&k=', '&f', '=', 'a', '&b=1&'])
    let compared = 0
    fc.assert(
      fc.property(paths, queries, values, (path, query, hostile) => {
        const result = compileTemplate(template({ url: `https://a.example/x${path}?first=1&${query}&last=1` }))
        if (!result.ok) return
        const added = path.split('segments').length - 1
        const read = (given: Values) => {
          const request = result.value.render(valuesOf({ ...given, t: 't' }))
          if (!request.ok) return undefined
          const { origin, pathname, search, hash, href } = new URL(request.value.url)
          const segments = pathname.split('/').length - added * (given.s.split('/').length - 1)
          const pairs = search.split('&')
          return [origin, hash, href === request.value.url, segments, pairs[0], pairs.at(-1)]
        }
        const [sent, expected] = [read(hostile), read(calm)]
        // Some templates have two lists that always bring the same key.
        if (sent === undefined || expected === undefined) return
        compared += 1
        expect(sent).toEqual(expected)
      }),
      { numRuns: runsOf(10_000) },
    )
    expect(compared).toBeGreaterThan(20)
  })

  it('adds no line, and no cookie before the first one or after the last one', () => {
    const cookies = anyTemplate(['; ', '; k=', '=', 'a', ',', '; b=1'])
    let compared = 0
    fc.assert(
      fc.property(cookies, values, (text, hostile) => {
        const headers = [{ name: 'Cookie', value: `first=1; ${text}; last=1` }]
        const result = compileTemplate(template({ headers }))
        const request = result.ok ? result.value.render(valuesOf(hostile)) : undefined
        if (!request?.ok) return
        compared += 1
        const value = request.value.headers[0]?.[1] ?? ''
        expect(value).toMatch(/^first=1; (?:[ -~]*; )?last=1$/)
        expect(value.split(';').filter(cookie => /^ *(?:first|last)\b/i.test(cookie))).toHaveLength(2)
      }),
      { numRuns: runsOf(5_000) },
    )
    expect(compared).toBeGreaterThan(20)
  })
})
