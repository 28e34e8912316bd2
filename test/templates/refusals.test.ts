import { describe, expect, it } from 'vitest'
import { errorsOf } from './compiling.ts'

const LONG_NAME = 'n'.repeat(65)

describe('a URL that cannot be saved', () => {
  it.each([
    ['https://a.example/{{1x}}', 19, /"1x" is not a valid name/],
    ['https://a.example/{{a b}}', 19, /"a b" is not a valid name/],
    ['https://a.example/{{}}', 19, /needs a name/],
    ['https://a.example/{{__proto__}}', 19, /reserved/],
    [`https://a.example/{{${LONG_NAME}}}`, 19, /65 characters; at most 64/],
    ['https://a.example/{{int:x}}', 19, /"int" is not a type. Use string, integer, number, boolean, json or url/],
    ['https://a.example/{{x', 19, /"{{" without "}}"/],
    ['https://a.example/{{x {{y}}', 19, /"{{" without "}}"/],
    ['https://a.example/?q={{x?=1}}', 22, /a placeholder with a default is already optional/],
    ['https://a.example/{{integer:x=one}}', 19, /default of "x" must be an integer/],
    ['https://a.example/{{integer:x=1.5}}', 19, /default of "x" must be an integer/],
    ['https://a.example/?q={{json:x={"a":{}}}}', 22, /default of "x" must be JSON.*parameters/],
    ['https://a.example/{{x=..}}', 19, /default of "x" must not be empty/],
    ['{{url:b=ftp://x}}/', 1, /default of "b" must be an absolute http or https URL/],
    ['https://a.example/{{x?}}', 19, /"x" cannot be optional here/],
    ['{{url:b?}}/', 1, /"b" cannot be optional here/],
    ['https://{{h?}}.example/', 9, /"h" cannot be optional here/],
    ['{{base}}/users', 1, /must have type url/],
    ['{{scheme}}://a.example/', 1, /scheme cannot contain a placeholder/],
    ['htt{{x}}://a.example/', 4, /scheme cannot contain a placeholder/],
    ['ftp://a.example/', 1, /scheme "ftp" is not allowed/],
    ['/users/{{id}}', 1, /not absolute/],
    ['', 1, /not absolute/],
    ['https:///users', 9, /no host/],
    ['https://me:pw@a.example/', 9, /credentials/],
    ['https://@a.example/', 9, /credentials/],
    ['https://{{u}}@a.example/', 9, /user info/],
    ['https://me:{{pw}}@a.example/', 12, /user info/],
    ['https://a.example:{{port}}/', 19, /port cannot contain a placeholder/],
    ['https://x{{h}}.example/', 10, /whole label/],
    ['https://[{{a}}]/', 10, /whole label/],
    ['https://a.example/#{{x}}', 20, /fragment cannot contain a placeholder/],
    ['https://a.example/{{url:x}}', 19, /only allowed at the start/],
    ['https://a.example/?{{k}}=1', 20, /key cannot contain a placeholder/],
    ['https://a.example/?{{k}}', 20, /key cannot contain a placeholder/],
    ['https://a.example/?a=1&b{{k}}={{v}}', 25, /key cannot contain a placeholder/],
    ['https://a.example/%{{x}}', 20, /percent escape/],
    ['https://a.example/%2{{x}}', 21, /percent escape/],
    ['https://a.example/?q=%{{x}}', 23, /percent escape/],
    ['https://a.example/../{{x}}', 19, /the path contains "\.\."/],
    ['https://a.example/a/.%2E/{{x}}', 21, /the path contains "\.%2E"/],
    ['{{url:base}}/../{{x}}', 14, /the path contains "\.\."/],
    ['https://a.example\\b', 18, /the path contains a backslash/],
    ['https://a.example/a\nb', 20, /line breaks/],
    ['https://a.example/\0', 19, /NUL/],
    [' https://a.example/', 1, /starts with a space/],
    ['https://a.example/{{x}} ', 24, /ends with a space/],
    ['https://a b.example/', 1, /Check the host and the port/],
    ['https://a.example:99999/', 1, /Check the host and the port/],
    ['https://{{x}}.1/', 1, /Check the host and the port/],
  ])('%s: column %d, %s', (url, column, message) => {
    const errors = errorsOf({ url })
    expect(errors).toMatchObject([{ field: 'url', line: 1, column }])
    expect(errors[0]?.message).toMatch(message)
  })
})

describe('a URL with other errors', () => {
  it('reports each placeholder that is not a whole label', () => {
    expect(errorsOf({ url: 'https://{{a}}{{b}}.example/' }).map(error => error.column)).toEqual([9, 14])
  })

  it('is too long', () => {
    const errors = errorsOf({ url: `https://a.example/${'a'.repeat(8_192)}` })
    expect(errors).toEqual([{ field: 'url', line: 1, column: 1, message: 'this is longer than 8192 characters' }])
  })
})

describe('a header that cannot be saved', () => {
  it.each([
    ['Host', /cannot be set/],
    ['content-length', /cannot be set/],
    ['Connection', /cannot be set/],
    ['Keep-Alive', /cannot be set/],
    ['TE', /cannot be set/],
    ['Trailer', /cannot be set/],
    ['Transfer-Encoding', /cannot be set/],
    ['Upgrade', /cannot be set/],
    ['Expect', /cannot be set/],
    ['Proxy-Authorization', /cannot be set/],
    ['sec-fetch-site', /cannot be set/],
    ['', /is not a valid header name/],
    ['X Y', /is not a valid header name/],
    ['X:Y', /is not a valid header name/],
    ['X\r\nY', /is not a valid header name/],
    ['X-{{name}}', /name of a header cannot contain a placeholder/],
  ])('named %j: %s', (name, message) => {
    const errors = errorsOf({
      headers: [
        { name: 'X-Ok', value: '' },
        { name, value: 'v' },
      ],
    })
    expect(errors).toMatchObject([{ field: 'headers[1].name', line: 1, column: 1 }])
    expect(errors[0]?.message).toMatch(message)
  })

  it.each([
    ['a\r\nX-Evil: 1', 1, 2],
    ['{{x}}€', 1, 6],
    ['a {{x', 1, 3],
  ])('with the value %j: line %d, column %d', (value, line, column) => {
    expect(errorsOf({ headers: [{ name: 'X-A', value }] })).toMatchObject([{ field: 'headers[0].value', line, column }])
  })

  it('is the second Content-Type', () => {
    const headers = [
      { name: 'Content-Type', value: 'text/plain' },
      { name: 'content-type', value: 'application/json' },
    ]
    expect(errorsOf({ headers })).toMatchObject([
      { field: 'headers[1].name', message: expect.stringMatching(/already a Content-Type/) },
    ])
  })

  it.each([
    ['application/{{fmt=json}}', 13],
    ['{{type}}', 1],
    ['application/json; charset={{charset?}}', 27],
  ])('is the Content-Type %j of a body: with a placeholder at column %d', (value, column) => {
    const parts = {
      headers: [
        { name: 'X', value: '' },
        { name: 'content-type', value },
      ],
    }
    expect(errorsOf({ ...parts, body: '{"a": "{{x}}"}' })).toEqual([
      { field: 'headers[1].value', line: 1, column, message: expect.stringMatching(/Content-Type of a body/) },
    ])
    // Without a body, Content-Type is a header like any other.
    expect(errorsOf(parts)).toEqual([])
  })

  it('is one too many, or too long', () => {
    const many = Array.from({ length: 65 }, (_, index) => ({ name: `X-${index}`, value: '' }))
    expect(errorsOf({ headers: many })).toMatchObject([{ field: 'headers[64].name', message: 'more than 64 headers' }])
    expect(errorsOf({ headers: [{ name: 'X', value: 'a'.repeat(8_193) }] })).toMatchObject([
      { message: expect.stringMatching(/longer than 8192/) },
    ])
  })
})

describe('a body that cannot be saved', () => {
  const json = [{ name: 'Content-Type', value: 'application/json' }]
  const form = [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }]

  it.each([
    ['{"a": 1,}', 1, 9, /a key is missing/],
    ['{"a": {{x}} {{y}}}', 1, 13, /a comma or } is missing/],
    ['[1,\n 2 3]', 2, 4, /a comma or \] is missing/],
    ['{"a"\n:\n}', 3, 1, /a JSON value is missing/],
    ["{'a': 1}", 1, 2, /a key is missing/],
    ['{"a" 1}', 1, 6, /a colon is missing/],
    ['[01]', 1, 3, /a comma or \] is missing/],
    ['[1{{x}}]', 1, 3, /a comma or \] is missing/],
    ['[truex]', 1, 2, /a JSON value is missing/],
    ['"a\nb"', 1, 3, /line breaks/],
    ['"\\x"', 1, 2, /not a valid escape in JSON/],
    ['"{{x}}', 1, 7, /a string is not closed/],
    ['{"a": 1} {{x}}', 1, 10, /unexpected text after the JSON value/],
    ['hello {{x}}', 1, 1, /a JSON value is missing/],
    ['['.repeat(65), 1, 65, /more than 64 levels deep/],
    ['{"{{k}}": 1}', 1, 3, /key cannot contain a placeholder/],
    ['{"a{{k}}b": 1}', 1, 4, /key cannot contain a placeholder/],
    ['{ {{k}} : 1}', 1, 3, /key cannot contain a placeholder/],
    ['{"a": "\\u00{{x}}"}', 1, 12, /\\u escape/],
    ['{"a":\n {{int:x}}}', 2, 2, /not a type/],
    ['{"a":\n {{x}', 2, 2, /without/],
  ])('as JSON: %j, line %d, column %d', (body, line, column, message) => {
    const errors = errorsOf({ headers: json, body })
    expect(errors).toMatchObject([{ field: 'body', line, column }])
    expect(errors[0]?.message).toMatch(message)
  })

  it.each(['{"{{k}}": 1}', '{"a": "\\u00{{x}}"}'])(
    '%s is JSON also without a Content-Type, so its placeholder is rejected',
    body => {
      expect(errorsOf({ body })).toMatchObject([{ field: 'body', line: 1 }])
    },
  )

  it.each([
    ['{{x}}', 1, 1, /key cannot contain a placeholder/],
    ['a=1\n&{{k}}=1', 2, 2, /key cannot contain a placeholder/],
    ['a=%{{x}}', 1, 4, /percent escape/],
  ])('as a form: %j, line %d, column %d', (body, line, column, message) => {
    const errors = errorsOf({ headers: form, body })
    expect(errors).toMatchObject([{ field: 'body', line, column }])
    expect(errors[0]?.message).toMatch(message)
  })

  it('of a HEAD request, or too long', () => {
    expect(errorsOf({ method: 'HEAD', body: 'x' })).toMatchObject([{ field: 'body', line: 1, column: 1 }])
    expect(errorsOf({ body: 'x'.repeat(262_145) })).toMatchObject([
      { field: 'body', message: expect.stringMatching(/longer than 262144/) },
    ])
  })
})

describe('a method that cannot be saved', () => {
  const long = 'A'.repeat(21)
  it.each([
    '',
    'GE T',
    'GET\r\n',
    'GET|ID',
    "GET'",
    '-GET',
    'GET1',
    'ſ',
    long,
    '{{method}}',
    'CONNECT',
    'trace',
    'TRACK',
  ])('%j', method => {
    expect(errorsOf({ method })).toMatchObject([{ field: 'method', line: 1, column: 1 }])
  })

  it.each(['get', 'M-SEARCH', 'VERSION-CONTROL', 'A'.repeat(20)])('is not %j', method => {
    expect(errorsOf({ method })).toEqual([])
  })
})

describe('a name with contradicting placeholders', () => {
  it('by type: the error is at the second and names both', () => {
    const errors = errorsOf({ url: 'https://a.example/{{integer:id}}', body: '{\n  "id": {{id}}}' })
    expect(errors).toEqual([
      {
        field: 'body',
        line: 2,
        column: 9,
        message:
          '"id" is integer in url, line 1, column 19, but string in body, line 2, column 9. Use the same type everywhere',
      },
    ])
  })

  it('by default: the error names both', () => {
    const errors = errorsOf({ url: 'https://a.example/{{x=1}}?x={{x=2}}' })
    expect(errors).toMatchObject([
      {
        field: 'url',
        line: 1,
        column: 29,
        message: expect.stringMatching(/url, line 1, column 19 and url, line 1, column 29/),
      },
    ])
  })

  it('can have one default, and be optional in one placeholder only', () => {
    expect(errorsOf({ url: 'https://a.example/{{x}}?x={{x=2}}' })).toEqual([])
    expect(errorsOf({ url: 'https://a.example/{{x?}}?x={{x}}' })).toEqual([])
  })
})

describe('a template with several errors', () => {
  it('tells all of them at once, in the order of the fields', () => {
    const errors = errorsOf({
      method: 'TRACE',
      url: 'https://a.example:{{int:port}}/{{id}}?{{k}}\n',
      headers: [
        { name: 'Host', value: '{{integer:id}}' },
        { name: 'X', value: '{{' },
      ],
      body: '{"a": {{1}}}',
    })
    expect(errors.map(({ field, line, column }) => `${field} ${line}:${column}`)).toEqual([
      'method 1:1',
      'headers[0].name 1:1',
      'url 1:19',
      'url 1:44',
      'headers[1].value 1:1',
      'body 1:7',
      'headers[0].value 1:1',
    ])
  })

  it('tells the first hundred', () => {
    expect(errorsOf({ body: '{{1}} '.repeat(150) })).toHaveLength(100)
  })

  it('can have 1000 placeholders and no more', () => {
    expect(errorsOf({ body: '{{x}}'.repeat(1_000) })).toEqual([])
    expect(errorsOf({ body: '{{x}}\n'.repeat(1_001) })).toMatchObject([
      { field: 'body', line: 1_001, column: 1, message: expect.stringMatching(/more than 1000 placeholders/) },
    ])
  })

  it('is one with more than 256 parameters', () => {
    const body = Array.from({ length: 257 }, (_, index) => `{{p${index}}}`).join('\n')
    expect(errorsOf({ body: `text ${'{{p0}}'.repeat(2)}${body}` })).toMatchObject([
      { field: 'body', line: 257, message: expect.stringMatching(/more than 256/) },
    ])
  })
})
